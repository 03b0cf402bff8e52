package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// escape encodes a name of a JSON Pointer.
var escape = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer returns the names as a JSON Pointer (RFC 6901).
func Pointer(names ...string) string {
	at := ""
	for _, name := range names {
		at += "/" + escape.Replace(name)
	}
	return at
}

// BytesPerStep is how much JSON [DecodeValue] decodes in one step of packages filter, schema and shape.
const BytesPerStep = 4

// DecodeValue decodes exactly one JSON value, with numbers as json.Number. message says what is
// wrong, and is empty otherwise.
func DecodeValue(raw []byte) (value any, message string) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		return nil, "must be valid JSON"
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, "must be one JSON value"
	}
	return value, ""
}
