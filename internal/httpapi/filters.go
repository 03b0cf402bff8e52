package httpapi

import (
	"github.com/go-json-experiment/json/jsontext"
)

// filterOf returns the given filter of an endpoint: nil if the field is absent, and empty for an
// object without fields.
func filterOf(v jsontext.Value) *[]byte {
	if len(v) == 0 {
		return nil
	}
	text := compact(v)
	if string(text) == "{}" {
		text = nil
	}
	return &text
}

func viewFilter(text []byte) jsontext.Value {
	if len(text) == 0 {
		return jsontext.Value("{}")
	}
	return text
}
