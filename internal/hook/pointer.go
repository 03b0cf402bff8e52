package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

// ValidPointer reports whether s is a JSON Pointer (RFC 6901) to a part of a document: a
// slash before each name, "~" as "~0", and "/" as "~1".
func ValidPointer(s string) bool {
	if !strings.HasPrefix(s, "/") || !ValidText(s) {
		return false
	}
	for rest := s; ; {
		_, after, found := strings.Cut(rest, "~")
		if !found {
			return true
		}
		if after == "" || after[0] != '0' && after[0] != '1' {
			return false
		}
		rest = after
	}
}

// escape encodes a name of a JSON Pointer.
var escape = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer returns the names as a JSON Pointer (RFC 6901).
func Pointer(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteByte('/')
		b.WriteString(escape.Replace(name))
	}
	return b.String()
}

// DecodeValue decodes exactly one JSON value, with numbers as json.Number. The message
// says what is wrong; empty: nothing.
func DecodeValue(raw []byte) (value any, message string) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		return nil, "must be JSON"
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, "must be one JSON value"
	}
	return value, ""
}

// unescape decodes a name of a JSON Pointer. "~01" is "~1", because the scan is one pass.
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// valueAt returns the string, number or boolean at the pointer, with a mark of its kind;
// ok is false for every other value, and without a value.
func valueAt(document []byte, pointer string) (value string, ok bool) {
	at := json.RawMessage(document)
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if at, ok = child(at, unescape.Replace(name)); !ok {
			return "", false
		}
	}
	at = bytes.TrimSpace(at)
	var text string
	switch {
	case len(at) == 0, at[0] == '{', at[0] == '[', at[0] == 'n':
		return "", false
	case at[0] == '"':
		if json.Unmarshal(at, &text) != nil {
			return "", false
		}
		return "string " + text, true
	}
	return "literal " + string(at), true
}

// child returns the member or the element of the value; ok is false without one.
func child(of json.RawMessage, name string) (value json.RawMessage, ok bool) {
	of = bytes.TrimSpace(of)
	if len(of) == 0 {
		return nil, false
	}
	switch of[0] {
	case '{':
		var members map[string]json.RawMessage
		if json.Unmarshal(of, &members) != nil {
			return nil, false
		}
		value, ok = members[name]
	case '[':
		var elements []json.RawMessage
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || strconv.Itoa(i) != name || json.Unmarshal(of, &elements) != nil || i >= len(elements) {
			return nil, false
		}
		value, ok = elements[i], true
	}
	return value, ok
}
