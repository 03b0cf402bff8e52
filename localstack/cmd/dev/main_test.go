package main

import (
	"context"
	"io"
	"log"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// variables returns a lookup with only these environment variables.
func variables(all map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := all[name]
		return value, ok
	}
}

func TestRun_PrintsTheAddressAndEndsWithTheContext(t *testing.T) {
	t.Parallel()

	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	said, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, variables(map[string]string{"PORT": "0"}), out) }()

	text := make([]byte, 4<<10)
	n, err := said.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	parts := regexp.MustCompile(`(?s)FORGETS EVERYTHING.*API=(http://127\.0\.0\.1:\d+)\n.*KEY=(shk_\S{43})\n`).FindSubmatch(text[:n])
	if parts == nil {
		t.Fatalf("run said %s; want that it forgets, where it is and its key", text[:n])
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, string(parts[1])+"/v1/tenants/acme/endpoints", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+string(parts[2]))
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("GET endpoints = %s, %v; want 200", answer.Status, err)
	}
	if log.Writer() != io.Discard {
		t.Errorf("the standard logger writes to %T; want io.Discard, because net/http logs bytes of receivers", log.Writer())
	}
	interrupt()
	if err := <-ended; err != nil {
		t.Errorf("run = %v; want nil", err)
	}
}

func TestRead_RefusesWhatItCannotUse(t *testing.T) {
	t.Parallel()

	for name, value := range map[string]string{"PORT": "65536", "LOG": "loud"} {
		if _, err := read(variables(map[string]string{name: value}), io.Discard); err == nil || !strings.HasPrefix(err.Error(), name+" is ") {
			t.Errorf("read(%s=%s) = %v; want an error that names it", name, value, err)
		}
	}
}
