package main

import "time"

// grammar is the whole command line as data: kong reads its tags, each leaf is a command.
type grammar struct {
	Common common `embed:""`

	Cockpit cockpitCmd `cmd:"" default:"1" hidden:"" help:"Open the cockpit, or print the status where there is no terminal."`

	Coord   coordCmd   `cmd:"" aliases:"coordinate" help:"Coordinate: claims, contracts, tasks, decisions, who has read what."`
	Agent   agentCmd   `cmd:"" help:"Sessions of agents: one name for each."`
	Handoff handoffCmd `cmd:"" help:"Hand work to an agent, read an inbox, mark as done."`
	Status  statusCmd  `cmd:"" help:"What holds now (short for coord status)."`
	Kill    killCmd    `cmd:"" help:"Halt every write at once."`
	Resume  resumeCmd  `cmd:"" help:"Lift the kill switch."`
	Daemon  daemonCmd  `cmd:"" help:"The kill switch, under the name that other tools know."`
	Doctor  doctorCmd  `cmd:"" help:"Check the log, lock, checkpoint, permissions and file system."`
	Tui     tuiCmd     `cmd:"" help:"Open the cockpit, or print one frame of it."`

	Demo       demoCmd       `cmd:"" help:"Watch scripted agents at work in a scratch repository."`
	Connect    connectCmd    `cmd:"" help:"Connect an agent program, or git, with this one."`
	Disconnect disconnectCmd `cmd:"" help:"Take out again what connect has written."`
	Hook       hookCmd       `cmd:"" help:"Answer a hook of an agent program, or of git."`
	Serve      serveCmd      `cmd:"" help:"Speak the Model Context Protocol with an agent, on stdin and stdout."`
	Completion completionCmd `cmd:"" help:"Print the completion script of a shell."`
	Version    versionCmd    `cmd:"" help:"Print the version."`

	TortureWriter tortureWriterCmd `cmd:"" name:"torture-writer" hidden:"" help:"One writer of doctor --torture."`
	Complete      completeCmd      `cmd:"" name:"__complete" hidden:"" help:"What may stand at the end of a line, for the completion scripts."`
}

// coordCmd groups what agents and people say to each other through the log.
type coordCmd struct {
	Own      ownCmd      `cmd:"" group:"Claims" help:"Claim paths and everything below them."`
	Release  releaseCmd  `cmd:"" group:"Claims" help:"Release paths and everything below them."`
	Conflict conflictCmd `cmd:"" name:"conflicts" aliases:"preview" group:"Claims" help:"Say who else holds paths, without claiming. Exit 3 if somebody does."`
	Guard    guardCmd    `cmd:"" group:"Claims" help:"Show or set what becomes of an edit that is in another agent's way."`
	Drift    driftCmd    `cmd:"" group:"Claims" help:"Name files changed on disk outside of the claims, in every worktree."`

	Contract contractCmd `cmd:"" group:"Contracts" help:"List, show or publish contracts; declare who builds on one."`
	Diff     diffCmd     `cmd:"" group:"Contracts" help:"Compare two revisions of a contract."`

	Task   taskCmd   `cmd:"" group:"Work" help:"Ask an agent for work."`
	Next   nextCmd   `cmd:"" group:"Work" help:"Take the next task that is ready for an agent."`
	Done   doneCmd   `cmd:"" group:"Work" help:"Settle a task as done, or as failed."`
	Cancel cancelCmd `cmd:"" group:"Work" help:"Withdraw a task or question."`
	Ask    askCmd    `cmd:"" group:"Work" help:"Ask an agent a question."`
	Answer answerCmd `cmd:"" group:"Work" help:"Answer a question."`
	Update updateCmd `cmd:"" group:"Work" help:"Report progress, blockers and what comes next."`
	Decide decideCmd `cmd:"" group:"Work" help:"Record a decision."`

	Status    statusCmd    `cmd:"" group:"Reading" help:"What holds now, or held as of a sequence number."`
	Snapshot  snapshotCmd  `cmd:"" group:"Reading" help:"Everything that concerns one agent, bounded."`
	Subscribe subscribeCmd `cmd:"" group:"Reading" help:"Events after a cursor that concern an agent."`
	Ack       ackCmd       `cmd:"" group:"Reading" help:"Acknowledge everything up to a sequence number."`
	Card      cardCmd      `cmd:"" group:"Reading" help:"Print the handover card of an agent, at most 1 KB."`
	Replay    replayCmd    `cmd:"" group:"Reading" help:"The log as a timeline, or the state as of a sequence number."`
	Watch     watchCmd     `cmd:"" group:"Reading" help:"Print events as they happen, until Ctrl-C."`

	Agents coordAgentsCmd `cmd:"" group:"Sessions" help:"Sessions of agent programs, and the bridge that gives events to them as turns."`

	Discuss discussCmd `cmd:"" group:"Discussions" help:"Design discussions of two agents: bounded, public, with a decision at the end."`

	Compact compactCmd `cmd:"" group:"The log" help:"Archive the log and keep what the state needs."`
	Doctor  doctorCmd  `cmd:"" group:"The log" help:"Check the log, lock, checkpoint, permissions and file system."`
}

// daemonCmd keeps the two words by which the kill switch is known elsewhere.
type daemonCmd struct {
	Kill   killCmd   `cmd:"" help:"Halt every write at once."`
	Resume resumeCmd `cmd:"" help:"Lift the kill switch."`
}

// common are the flags of every verb.
type common struct {
	Help    helpFlag `short:"h" group:"Common flags" help:"Show what a command does, with examples."`
	Project string   `complete:"dir" placeholder:"DIR" group:"Common flags" help:"The project: the folder that holds .handoff/. Default: LOADOUT_PROJECT, else found from the working directory."`
	JSON    bool     `name:"json" group:"Common flags" help:"Print the answer as JSON, and a refusal as JSON on stderr."`
	Agent   string   `complete:"agent" placeholder:"NAME" group:"Common flags" help:"Who acts where the verb names nobody, and whom 'me' stands for. Default: LOADOUT_AGENT, else found from the process."`
	As      string   `complete:"agent" placeholder:"NAME" group:"Common flags" help:"Like --agent, also when NAME is the live session of another process."`
	NoColor bool     `group:"Common flags" help:"No colours. NO_COLOR does the same."`
}

// writing are the flags of every verb that stores an event.
type writing struct {
	Key      string        `placeholder:"KEY" help:"Retry key: a second call with the same key stores nothing and answers as the first did."`
	LockWait time.Duration `placeholder:"TIME" help:"How long to wait for the lock, default 10s."`
}
