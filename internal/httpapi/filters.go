package httpapi

import (
	"github.com/go-json-experiment/json/jsontext"
)

// viewFilter returns the filter of an endpoint as it was given; {} for none.
func viewFilter(text []byte) jsontext.Value {
	if len(text) == 0 {
		return jsontext.Value("{}")
	}
	return text
}
