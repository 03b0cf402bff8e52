package porttest

import (
	"strings"
	"testing"
)

// Emulator is a running program that speaks the API of AWS.
type Emulator struct {
	Name string // "ministack" or "moto"
	URL  string
}

// EmulatorsVariable is the environment variable that tests with the tag
// integration read: "ministack=http://127.0.0.1:4566,moto=http://127.0.0.1:5000".
const EmulatorsVariable = "SUREHOOK_EMULATORS"

// Emulators reads the value of EmulatorsVariable. It ends the test if there is
// none, because a suite that was skipped proves nothing.
func Emulators(t *testing.T, value string) []Emulator {
	t.Helper()

	var emulators []Emulator
	for _, entry := range strings.Split(value, ",") {
		name, url, ok := strings.Cut(entry, "=")
		if !ok || name == "" || url == "" {
			t.Fatalf("%s = %q; want name=url,name=url", EmulatorsVariable, value)
		}
		emulators = append(emulators, Emulator{Name: name, URL: url})
	}
	return emulators
}
