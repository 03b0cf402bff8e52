package apikey_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// touched holds one key, records the days of TouchKey, and returns the result of touch.
type touched struct {
	key   hook.APIKey
	days  []string
	touch func(ctx context.Context) error
}

func (k *touched) KeyByHash(_ context.Context, hash string) (hook.APIKey, error) {
	if hash != k.key.Hash {
		return hook.APIKey{}, hook.NotFound("key")
	}
	return k.key, nil
}

func (k *touched) TouchKey(ctx context.Context, _ hook.APIKey, day string) error {
	k.days = append(k.days, day)
	if k.touch != nil {
		return k.touch(ctx)
	}
	return nil
}

func TestAuthenticator_Identify_recordsTheDay(t *testing.T) {
	t.Parallel()

	fails := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
	east := time.FixedZone("", 3600)
	tests := []struct {
		name     string
		key      string // acmeKey if empty
		recorded string
		now      time.Time
		touch    func(context.Context) error
		want     string // the day noted; empty for none
		logged   bool
	}{
		{name: "a first use is recorded", now: noon(), want: "2026-11-21"},
		{name: "a second use of the day is not", now: noon(), recorded: "2026-11-21"},
		{name: "a use on another day is recorded", now: noon(), recorded: "2026-11-20", want: "2026-11-21"},
		{name: "a clock behind the recorded day does not record", now: noon(), recorded: "2026-11-22"},
		{name: "the last millisecond of a day", now: time.Date(2026, 11, 21, 23, 59, 59, 999e6, time.UTC), recorded: "2026-11-21"},
		{name: "the first moment of a day", now: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), recorded: "2026-11-21", want: "2026-11-22"},
		{name: "days are UTC days", now: time.Date(2026, 11, 22, 0, 30, 0, 0, east), recorded: "2026-11-20", want: "2026-11-21"},
		{name: "another request was first", now: noon(), touch: fails(hook.Conflict("noted")), want: "2026-11-21"},
		{name: "the store is busy", now: noon(), touch: fails(&hook.Error{Code: hook.CodeUnavailable, Message: "busy"}), want: "2026-11-21", logged: true},
		{name: "the store is broken", now: noon(), touch: fails(errors.New("boom")), want: "2026-11-21", logged: true},
		{name: "the stack's admin key has no record", key: adminKey, now: noon()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			stored := &touched{touch: tt.touch}
			stored.key = hook.APIKey{ID: "key_1", Tenant: "acme", Hash: hook.HashKey(acmeKey), LastUsedOn: tt.recorded}
			var log bytes.Buffer
			a := &apikey.Authenticator{
				Keys: stored, Admin: admin{key: adminKey}, Log: slog.New(slog.NewJSONHandler(&log, nil)), Now: func() time.Time { return tt.now },
			}
			key := acmeKey
			if tt.key != "" {
				key = tt.key
			}
			if _, err := a.Identify(t.Context(), "Bearer "+key); err != nil {
				t.Errorf("Identify = %v; want no error", err)
			}
			var want []string
			if tt.want != "" {
				want = []string{tt.want}
			}
			if !slices.Equal(stored.days, want) {
				t.Errorf("days recorded = %q; want %q", stored.days, want)
			}
			if tt.logged {
				wantLine(t, log.Bytes())
			} else if log.Len() > 0 {
				t.Errorf("log = %s; want none", &log)
			}
		})
	}
}

// wantLine wants one log line with the id of the key and without the key.
func wantLine(t *testing.T, log []byte) {
	t.Helper()

	var line map[string]any
	if err := json.Unmarshal(log, &line); err != nil {
		t.Fatalf("log = %s; want one line", log)
	}
	if line["msg"] != "api_key.record_use_failed" || line["key_id"] != "key_1" || line["tenant"] != "acme" || line["error"] == nil {
		t.Errorf("log = %s; want api_key.record_use_failed of key_1 and the cause", log)
	}
	if strings.Contains(string(log), acmeKey) || strings.Contains(string(log), hook.HashKey(acmeKey)) {
		t.Errorf("log = %s; want no key and no hash", log)
	}
}

func TestAuthenticator_Identify_limitsTheWaitForTouchKey(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		stored := &touched{key: hook.APIKey{ID: "key_1", Tenant: "acme", Hash: hook.HashKey(acmeKey)}}
		stored.touch = func(ctx context.Context) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		var log bytes.Buffer
		a := &apikey.Authenticator{Keys: stored, Admin: admin{key: adminKey}, Log: slog.New(slog.NewJSONHandler(&log, nil)), Now: time.Now}
		began := time.Now()
		if _, err := a.Identify(t.Context(), "Bearer "+acmeKey); err != nil {
			t.Errorf("Identify = %v; want no error", err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("Identify took %s; want the timeout of 1s", took)
		}
		wantLine(t, log.Bytes())
	})
}

// TestAuthenticator_Identify_life follows a key: made, used, listed, revoked.
func TestAuthenticator_Identify_life(t *testing.T) {
	t.Parallel()

	store := memory.NewStore()
	i := &apikey.Issuer{Store: store, Now: noon}
	a := &apikey.Authenticator{Keys: store, Admin: admin{key: adminKey}, Log: slog.New(slog.DiscardHandler), Now: noon}
	k, text, err := i.Create(t.Context(), apikey.Request{Name: "backend", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeRead}})
	if err != nil || k.LastUsedOn != "" {
		t.Fatalf("Create = %+v, %v; want a key that was never used", k, err)
	}
	for range 2 {
		if p, err := a.Identify(t.Context(), "Bearer "+text); err != nil || p.Key != k.ID || p.Tenant != "acme" {
			t.Fatalf("Identify = %+v, %v; want the key", p, err)
		}
	}
	list, err := i.List(t.Context(), page.Request{Limit: 1})
	if err != nil || len(list.Data) != 1 || list.Data[0].LastUsedOn != "2026-11-21" {
		t.Errorf("List = %+v, %v; want the key, used on 2026-11-21", list.Data, err)
	}
	if _, err := i.Revoke(t.Context(), k.ID); err != nil {
		t.Fatalf("Revoke = %v", err)
	}
	if p, err := a.Identify(t.Context(), "Bearer "+text); p.Key != "" || hook.CodeOf(err) != hook.CodeUnauthorized {
		t.Errorf("Identify(revoked) = %+v, %v; want CodeUnauthorized", p, err)
	}
}
