package httpapi

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/hook"
)

// maxFieldPath limits the path of a field in a problem, in bytes, because callers choose the
// names.
const maxFieldPath = 200

// explain translates an error of the JSON decoder for the caller.
func explain(err error) hook.FieldError {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		field := fieldPath(e.JSONPointer)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return hook.FieldError{Field: field, Message: "is given twice"}
		}
		if strings.Contains(err.Error(), "max depth") {
			return hook.FieldError{Field: "body", Message: "has more than 10,000 levels of objects and arrays"}
		}
		return hook.FieldError{Field: field, Message: fmt.Sprintf("is not valid JSON in UTF-8, at byte %d", e.ByteOffset)}
	}
	e, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return hook.FieldError{Field: "body", Message: "is not valid JSON"}
	}
	message := "is not of the right type"
	if e.GoType != nil {
		message = "must be " + article(e.GoType.Kind())
	}
	return hook.FieldError{Field: fieldPath(e.JSONPointer), Message: message}
}

func article(k reflect.Kind) string {
	switch k { //nolint:exhaustive // the kinds used in request bodies
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	default:
		return "an object"
	}
}

// longestMistyped limits the names for which suggest looks, in bytes.
const longestMistyped = 40

// suggest returns the end of the message about an unknown field: the known one that the caller
// may mean; empty for none. Letter case and punctuation do not count.
func suggest(name string, known map[string][]int) string {
	if len(name) > longestMistyped {
		return ""
	}
	letters := func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}
	mistyped := strings.Map(letters, name)
	best, least := "", 3
	for _, field := range slices.Sorted(maps.Keys(known)) {
		plain := strings.Map(letters, field)
		d := distance(mistyped, plain)
		if min(len(mistyped), len(plain)) < 3 && d > 0 {
			continue
		}
		if strings.Contains(plain, mistyped) || strings.Contains(mistyped, plain) {
			d = min(d, 2)
		}
		if d < least {
			best, least = field, d
		}
	}
	if best == "" {
		return ""
	}
	return ": did you mean " + best + "?"
}

// distance returns how many letters must be inserted, deleted or replaced to get b from a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// fieldPath returns a JSON pointer (RFC 6901) in the form of hook.FieldError:
// /retry/schedule/0 becomes retry.schedule[0]. The whole document is "body".
func fieldPath(p jsontext.Pointer) string {
	p = p[:min(len(p), 4*maxFieldPath)] // enough for maxFieldPath: "~0" stands for one byte
	var b strings.Builder
	for token := range p.Tokens() {
		switch {
		case b.Len() > 0 && token != "" && strings.Trim(token, "0123456789") == "":
			b.WriteString("[" + token + "]")
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	switch path := b.String(); {
	case path == "":
		return "body"
	case len(path) > maxFieldPath:
		return strings.ToValidUTF8(path[:maxFieldPath], "") + "..."
	default:
		return path
	}
}
