package shape

import (
	"embed"
	"strings"
)

//go:embed presets/*.cel
var presets embed.FS

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
