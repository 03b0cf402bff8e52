package profiles

import (
	"slices"
	"strings"

	"surehook.example/surehook/internal/hook"
)

// Separate reports whether no text can be signed under both profiles, unless their templates, and so
// the meaning of the text, are the same. One secret signs under all profiles, and the customer
// chooses body and URL: under templates that are not separate, a signature could verify for an id
// and a time that never were.
//
// Two texts are separate if they differ before the first character that the customer chooses, or
// after the last one. So Separate refuses some templates whose texts always differ.
func Separate(a, b hook.SignatureProfile) bool {
	front, other := stepsOf(a), stepsOf(b)
	if a.Signed == b.Signed || !overlap(front, other) {
		return true
	}
	slices.Reverse(front)
	slices.Reverse(other)
	return !overlap(front, other)
}

// step is one character of a signed text. The zero step stands for any text, also none.
type step struct {
	of   string // the possible characters
	many bool   // one or more of them
}

const (
	digits  = "0123456789"
	idChars = digits + "_abcdefghijklmnopqrstuvwxyz" // of the ids of events and batches
	blanks  = " \t\r\n"                              // around JSON
)

// stepsOf returns what the profile signs.
func stepsOf(p hook.SignatureProfile) []step {
	body := []step{{of: blanks + "{["}, {}, {of: blanks + "}]"}}
	if p.SignsText() {
		body = []step{{}}
	}
	var steps []step
	for rest := p.Signed; rest != ""; {
		switch place, after, _ := strings.Cut(rest, "}"); place + "}" {
		case hook.PlaceBody:
			steps, rest = append(steps, body...), after
		case hook.PlaceURL:
			steps, rest = append(append(steps, literal("http")...), step{}), after
		case hook.PlaceTimestamp:
			steps, rest = append(steps, step{of: digits, many: true}), after
		case hook.PlaceID:
			steps, rest = append(steps, step{of: idChars, many: true}), after
		case hook.PlaceMethod:
			steps, rest = append(steps, literal("POST")...), after
		default:
			steps, rest = append(steps, step{of: rest[:1]}), rest[1:]
		}
	}
	return steps
}

func literal(text string) []step {
	steps := make([]step, len(text))
	for i := range text {
		steps[i].of = text[i : i+1]
	}
	return steps
}

// overlap reports whether one text fits both up to the first step of any text.
func overlap(a, b []step) bool {
	type place struct{ a, b int }
	seen := make(map[place]bool)
	var from func(at place) bool
	from = func(at place) bool {
		if at.a < len(a) && a[at.a].of == "" || at.b < len(b) && b[at.b].of == "" {
			return true
		}
		if at.a == len(a) || at.b == len(b) {
			return at.a == len(a) && at.b == len(b)
		}
		if seen[at] {
			return false
		}
		seen[at] = true
		return strings.ContainsAny(a[at.a].of, b[at.b].of) &&
			(from(place{at.a + 1, at.b + 1}) || a[at.a].many && from(place{at.a, at.b + 1}) || b[at.b].many && from(place{at.a + 1, at.b}))
	}
	return from(place{})
}
