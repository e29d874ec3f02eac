package main

import "io"

// InPast reports whether a line may be run while the cockpit shows the past: it changes nothing, or works the kill switch. A line that
// cannot be understood may, for Run says what is wrong with it.
func (r *runner) InPast(argv []string) bool {
	inside := *r.app
	inside.stdout, inside.stderr = io.Discard, io.Discard
	_, cmd, err := parse(&inside, append(r.flags(), argv...))
	return err != nil || changesNothing(cmd) || worksKillSwitch(cmd)
}

// changesNothing reports whether a command with these words only looks. A command that is not named here writes.
func changesNothing(cmd command) bool {
	switch cmd := cmd.(type) {
	case *statusCmd, *snapshotCmd, *subscribeCmd, *cardCmd, *replayCmd, *watchCmd, *conflictCmd, *driftCmd, *diffCmd, *agentsCmd,
		*detectCmd, *sessionsCmd, *discussListCmd, *discussShowCmd, *discussExportCmd, *versionCmd:
		return true
	case *contractCmd:
		return !cmd.publishes() && cmd.Consume == ""
	case *handoffCmd:
		return len(cmd.Text) == 0 && cmd.Done == ""
	case *guardCmd:
		return *cmd == guardCmd{}
	case *discussImplementCmd:
		return !cmd.Yes
	case *compactCmd:
		return cmd.DryRun
	case *doctorCmd:
		return !cmd.Fix
	case *cockpitCmd, *tuiCmd, *serveCmd, *hookCmd, *completionCmd: // refused, and say why
		return true
	}
	return false
}

// worksKillSwitch reports whether a command halts or resumes: stop means stop, whatever is shown.
func worksKillSwitch(cmd command) bool {
	switch cmd.(type) {
	case *killCmd, *resumeCmd:
		return true
	}
	return false
}
