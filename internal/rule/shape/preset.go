package shape

import (
	"embed"
	"strings"

	"surehook.example/surehook/internal/hook"
)

//go:embed presets/*.cel
var presets embed.FS

// NamesType reports whether the endpoint's bodies name the type of the event.
func NamesType(e *hook.Endpoint) bool {
	if e.Transformation != "" {
		return Preset(e.Transformation)
	}
	return e.Envelope != hook.EnvelopeRaw
}

// Preset reports whether the expression is one of Surehook's presets, whose bodies name the type of
// the event.
func Preset(expression string) bool {
	files, _ := presets.ReadDir("presets") // embedded: no error
	for _, file := range files {
		if text, _ := presets.ReadFile("presets/" + file.Name()); strings.TrimSpace(string(text)) == strings.TrimSpace(expression) {
			return true
		}
	}
	return false
}
