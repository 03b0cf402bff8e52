package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// differ returns an error about the first item that equals an earlier one. The library would compare
// each item with all those of the same hash, and for it [[],[]] and [[[]]] have the same one: thousands
// of such lists would take minutes.
func differ(items []any) error {
	seen := make(map[string]int, len(items))
	var text []byte
	for i, item := range items {
		text = appendExact(text[:0], item)
		if first, ok := seen[string(text)]; ok {
			return fmt.Errorf("items at %d and %d are equal", first, i) //nolint:err113 // read by people
		}
		seen[string(text)] = i
	}
	return nil
}

// appendExact appends a text that equal values have in common, and no other value.
func appendExact(text []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		text = append(text, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text = appendExact(appendExact(text, name), v[name])
		}
		return append(text, '}')
	case []any:
		text = append(text, '[')
		for _, item := range v {
			text = append(appendExact(text, item), ',')
		}
		return append(text, ']')
	case string: // its length says where it ends
		return append(append(strconv.AppendInt(append(text, '"'), int64(len(v)), 10), ':'), v...)
	case json.Number:
		return append(text, exact(v.String())...)
	}
	return fmt.Append(text, v) // true, false or nil
}

// exact returns a number as a fraction: 1, 1.0 and 10e-1 are equal.
func exact(number string) string {
	if strings.ContainsAny(number, ".eE") || number == "-0" {
		if fraction, ok := new(big.Rat).SetString(number); ok {
			return fraction.RatString()
		}
	}
	return number
}
