package store_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/agentloadout/loadout/store"
)

func TestSmoke(t *testing.T) {
	ctx := context.Background()
	l := store.Open(filepath.Join(t.TempDir(), ".handoff"), store.Options{})
	for i := range 3 {
		err := l.Update(ctx, func(tx *store.Tx) error {
			pos, err := tx.Read(ctx, store.Position{}, func(store.Batch) error { return nil })
			if err != nil {
				return err
			}
			if pos.Highest() != int64(i-1) {
				return fmt.Errorf("highest %d", pos.Highest())
			}
			_, err = tx.Append([][]byte{[]byte(fmt.Sprintf(`{"id":"x","seq":%d}`, i))})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var n int
	stop := errors.New("stop")
	err := l.Follow(ctx, store.Position{}, func(e store.Event) error {
		n += len(e.Lines)
		if e.End {
			return stop
		}
		return nil
	})
	if err != stop || n != 3 {
		t.Fatal(err, n)
	}
}
