package host

import "testing"

func TestParseStat(t *testing.T) {
	const rest = " S 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 1 2"
	for stat, want := range map[string]struct {
		p      Process
		ended  bool
		failed bool
	}{
		"12 (sh)" + rest:               {p: Process{PID: 12, Name: "sh", Parent: 7, Start: "4242"}},
		"12 (a b) (c) 5)" + rest:       {p: Process{PID: 12, Name: "a b) (c) 5", Parent: 7, Start: "4242"}},
		"12 ()" + rest:                 {p: Process{PID: 12, Parent: 7, Start: "4242"}},
		"12 (x\n)" + rest:              {p: Process{PID: 12, Name: "x\n", Parent: 7, Start: "4242"}},
		"12 (sh) Z" + rest[2:]:         {p: Process{PID: 12, Name: "sh", Parent: 7, Start: "4242"}, ended: true},
		"12 (sh) S 7 8 9":              {failed: true},
		"12 sh S":                      {failed: true},
		"(sh)" + rest:                  {failed: true},
		"":                             {failed: true},
		") (":                          {failed: true},
		"x (sh)" + rest:                {failed: true},
		"12 (sh) S x 8 9" + rest[9:]:   {failed: true},
		"12 (sh) S 7" + " 8 9 0 -1 41": {failed: true},
	} {
		p, ended, err := parseStat([]byte(stat))
		if (err != nil) != want.failed || err == nil && (p != want.p || ended != want.ended) {
			t.Errorf("%q: %+v %v %v, want %+v", stat, p, ended, err, want)
		}
	}
}

// A process that was seen in another namespace of the same boot may be alive.
func TestAliveElsewhere(t *testing.T) {
	thisBoot, err := boot()
	if err != nil {
		t.Skipf("skipped: /proc does not tell the boot: %v", err)
	}
	p := Process{PID: 1 << 30, Start: "1", Boot: thisBoot}
	if here.Alive(p) {
		t.Error("it cannot be here")
	}
	p.Boot += "x"
	if !here.Alive(p) {
		t.Error("it may be there")
	}
}
