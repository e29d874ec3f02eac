package event

// Limits of the protocol. Strings count UTF-16 code units; payloads count bytes of UTF-8.
const (
	MaxSeq          = 1<<53 - 1
	MaxName         = 128 // id, from, to, resolves, thread ids, retry keys
	MaxDescription  = 8192
	MaxContext      = 65536
	MaxPayloadBytes = 131072

	MaxContractName = 200
	MaxContractBody = 100000
	MaxFormat       = 50

	MaxPaths  = 256
	MaxPath   = 1024
	MaxReason = 500

	MaxDisplaced = 1024 // claims that one claim by force can end

	MaxTitle     = 200
	MaxRationale = 10000

	MaxFiles          = 256
	MaxCommands       = 20
	MaxCommand        = 500
	MaxCommandSummary = 1000
	MaxUpdateNote     = 5000
	MaxBlockers       = 10
	MaxBlocker        = 500
	MaxNext           = 1000
	MaxConsumes       = 50

	MaxAckNote = 1000

	MaxRound        = 8
	MaxContent      = 16384
	MaxAlternatives = 10
	MaxAlternative  = 2000

	MaxSession = 1024 // session id of a host
	MaxHost    = 255

	MaxNeeds    = 50
	MaxEvidence = 2000
)
