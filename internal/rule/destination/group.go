package destination

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/hook"
)

// groupName is what all services take.
var groupName = regexp.MustCompile(`^[!-~]{1,128}$`)

// Group returns the group of an event: the text, number or boolean at the endpoint's group_by, or
// else its ordering key, or else its id, so that an event without either has a group of its own. A
// value that is longer than 128 characters, or has others than visible ASCII, is replaced by its
// SHA-256 in hex.
func Group(e *hook.Endpoint, event *hook.Event) string {
	value := cmp.Or(event.OrderingKey, string(event.ID))
	if path := e.Destination.Settings[GroupBy]; path != "" {
		if found := scalarAt(event.Payload, strings.Split(path, ".")); found != "" {
			value = found
		}
	}
	if groupName.MatchString(value) {
		return value
	}
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// scalarAt returns the text, number or boolean at the path as text; empty for any other value, and
// without one. It reads the payload only up to the value, and keeps nothing of it.
func scalarAt(payload []byte, path []string) string {
	dec := jsontext.NewDecoder(bytes.NewBuffer(payload), jsontext.AllowDuplicateNames(true)) // looking for them takes memory
	for _, name := range path {
		if !enter(dec, name) {
			return ""
		}
	}
	value, _ := dec.ReadToken()
	if !slices.Contains([]jsontext.Kind{jsontext.KindString, jsontext.KindNumber, jsontext.KindTrue, jsontext.KindFalse}, value.Kind()) {
		return ""
	}
	return value.String()
}

// enter reads up to the value of the name in the next value; false if that is no object, or has no
// such name.
func enter(dec *jsontext.Decoder, name string) bool {
	if start, err := dec.ReadToken(); err != nil || start.Kind() != '{' {
		return false
	}
	for {
		key, err := dec.ReadToken()
		if err != nil || key.Kind() != '"' {
			return false
		}
		if key.String() == name {
			return true
		}
		if dec.SkipValue() != nil {
			return false
		}
	}
}
