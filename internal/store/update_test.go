package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/store"
)

// record is a record of the tests: the version counts the writes.
type record struct {
	version int
	text    string
}

// shelf keeps one record. before is called before each write, as another writer would write then.
type shelf struct {
	record record
	reads  int
	before func(*record)
	lost   bool // the answer to the first write is lost
}

func (s *shelf) table() store.Table[string, record] {
	return store.Table[string, record]{
		Name: "the record", Wait: func(context.Context, time.Duration) error { return nil },
		Read: func(context.Context, string) (record, error) {
			s.reads++
			return s.record, nil
		},
		Write: func(_ context.Context, _ string, _, next record) (record, error) {
			if s.before != nil {
				s.before(&s.record)
			}
			if next.version != s.record.version {
				return next, hook.Conflict("version")
			}
			next.version++
			s.record = next
			if s.lost {
				s.lost = false
				return next, hook.Conflict("its own write")
			}
			return next, nil
		},
	}
}

// mine writes its text, unless the record has it.
func mine(r record) (record, bool, error) {
	write := r.text != "mine"
	r.text = "mine"
	return r, write, nil
}

func TestUpdate(t *testing.T) {
	t.Parallel()

	refused := hook.Conflict("refused")
	others := func(n int) func(*record) {
		return func(r *record) {
			if n > 0 {
				n, r.version, r.text = n-1, r.version+1, "other"
			}
		}
	}
	again := 2
	tests := []struct {
		name          string
		shelf         shelf
		decide        func(record) (record, bool, error)
		before, after record
		reads         int
		code          hook.Code
		want          error
	}{
		{name: "writes", decide: mine, after: record{1, "mine"}, reads: 1},
		{name: "writes nothing", shelf: shelf{record: record{3, "mine"}}, decide: mine, before: record{3, "mine"}, after: record{3, "mine"}, reads: 1},
		{name: "decides again after another writer", shelf: shelf{before: others(2)}, decide: mine, before: record{2, "other"}, after: record{3, "mine"}, reads: 3},
		{name: "finds its own write", shelf: shelf{lost: true}, decide: mine, before: record{1, "mine"}, after: record{1, "mine"}, reads: 2},
		{name: "gives up", shelf: shelf{before: others(store.Tries)}, decide: mine, code: hook.CodeUnavailable, reads: store.Tries},
		{name: "succeeds at the last try", shelf: shelf{before: others(store.Tries - 1)}, decide: mine, before: record{store.Tries - 1, "other"}, after: record{store.Tries, "mine"}, reads: store.Tries},
		{name: "a refusal is final, whatever its code", decide: func(r record) (record, bool, error) { return r, true, refused }, want: refused, reads: 1},
		{name: "begins again on demand", decide: func(r record) (record, bool, error) {
			if again--; again >= 0 {
				return r, true, store.ErrAgain
			}
			return mine(r)
		}, after: record{1, "mine"}, reads: 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			before, after, err := tt.shelf.table().Update(t.Context(), "key", tt.decide)
			if tt.want != nil || tt.code != 0 {
				if tt.want != nil && !errors.Is(err, tt.want) || tt.code != 0 && (err == nil || hook.CodeOf(err) != tt.code) {
					t.Errorf("Update() = %v; want %v, %s", err, tt.want, tt.code)
				}
			} else if err != nil || before != tt.before || after != tt.after {
				t.Errorf("Update() = %v, %v, %v; want %v, %v", before, after, err, tt.before, tt.after)
			}
			if tt.shelf.reads != tt.reads {
				t.Errorf("Update() reads %d times; want %d", tt.shelf.reads, tt.reads)
			}
		})
	}
}

// A record that was read before costs no read.
func TestUpdateFrom(t *testing.T) {
	t.Parallel()

	s := shelf{record: record{4, "old"}}
	if _, after, err := s.table().UpdateFrom(t.Context(), s.record, "key", mine); err != nil || after != (record{5, "mine"}) || s.reads != 0 {
		t.Errorf("UpdateFrom() = %v, %v after %d reads; want the written record, and no read", after, err, s.reads)
	}
}
