package engine

import "context"

// DoctorOptions say whether doctor may mend.
type DoctorOptions struct {
	Fix bool // mend what can be mended, after an archive of the log
}

// Finding is one thing that is not as it should be.
type Finding struct {
	Code    string `json:"code"` // short and stable, e.g. torn_tail
	Text    string `json:"text"` // in plain words, with what to do
	Fixable bool   `json:"fixable"`
	Fixed   bool   `json:"fixed"`
	Info    bool   `json:"info,omitempty"` // worth knowing, not a fault
}

// DoctorReport is the state of a project's files.
type DoctorReport struct {
	Directory    string    `json:"directory"`
	Healthy      bool      `json:"healthy"` // nothing is wrong, or all that was is mended
	Lines        int64     `json:"lines"`
	Bytes        int64     `json:"bytes"`
	HighSeq      int64     `json:"highSeq"`
	Archives     int       `json:"archives"`
	ArchiveBytes int64     `json:"archiveBytes"`
	Archive      string    `json:"archive,omitempty"` // made before mending
	Findings     []Finding `json:"findings"`
}

// Doctor checks the log, the lock, the checkpoint, permissions and the file system. It changes nothing without Fix.
func (e *Engine) Doctor(ctx context.Context, o DoctorOptions) (DoctorReport, error) { panic("later") }
