package emulator_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"surehook.example/surehook/localstack/emulator"
)

func TestOpen_AttachesToAServerAndLeavesIt(t *testing.T) {
	t.Parallel()

	for path, want := range map[string]emulator.Kind{
		"/_ministack/health": emulator.MiniStack, "/_localemu/health": emulator.LocalEmu,
		"/_localstack/health": emulator.LocalStack, "/moto-api/data.json": emulator.Moto,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != path {
				w.WriteHeader(http.StatusNotFound)
			}
		}))
		defer server.Close()
		e, err := emulator.Open(t.Context(), emulator.Options{Root: t.TempDir(), Name: "own", Env: []string{"EMULATOR_URL=" + server.URL + "/"}})
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != want || e.URL != server.URL || !e.Attached {
			t.Errorf("Open = %+v; want %s at %s, attached", e, want, server.URL)
		}
		if err := e.Stop(); err != nil {
			t.Errorf("Stop = %v; want nil", err)
		}
		if response, err := http.Get(server.URL + path); err != nil || response.StatusCode != http.StatusOK { //nolint:noctx,bodyclose // of a test
			t.Errorf("the server after Stop: %v; want it to run", err)
		}
	}
}

func TestOpen_RefusesOtherAddresses(t *testing.T) {
	t.Parallel()

	nothing := httptest.NewServer(http.NotFoundHandler())
	defer nothing.Close()
	for address, want := range map[string]string{
		"localhost:4566":                      "not an address such as",
		"http://127.0.0.1:4566/path":          "not an address such as",
		"https://sqs.us-east-1.amazonaws.com": "must not be AWS",
		nothing.URL:                           "no MiniStack, LocalStack, LocalEmu or Moto answers there",
	} {
		_, err := emulator.Open(t.Context(), emulator.Options{Root: t.TempDir(), Env: []string{"EMULATOR_URL=" + address}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%s) = %v; want an error with %q", address, err, want)
		}
	}
}
