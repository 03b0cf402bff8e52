package porttest

import (
	"strings"
	"testing"
)

// Emulator is a running emulator of AWS.
type Emulator struct {
	Name string // "ministack", "moto", "localstack" or "localstack-4.14.0"
	URL  string
}

// FiresSchedules reports whether the emulator's Scheduler sends messages. moto and
// LocalStack 4.14.0 store schedules only.
func (e Emulator) FiresSchedules() bool {
	return e.Name != "moto" && e.Name != "localstack-4.14.0"
}

// EmulatorsVariable is the environment variable with the emulators for tests with
// the tag integration, for example
// "ministack=http://127.0.0.1:4566,moto=http://127.0.0.1:5000".
const EmulatorsVariable = "SUREHOOK_EMULATORS"

// Emulators parses the value of EmulatorsVariable. An empty value fails the test,
// because a skipped suite proves nothing.
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
