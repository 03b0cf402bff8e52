package hook

import "slices"

// Names are the words for the values of an enum, as they appear in the API, in records and in
// logs, by value.
type Names[E ~uint8] []string

// Of returns the word for the value; "unknown" for a value without one.
func (n Names[E]) Of(value E) string {
	if int(value) < len(n) && n[value] != "" {
		return n[value]
	}
	return "unknown"
}

// Parse returns the value above 0 with the word.
func (n Names[E]) Parse(word string) (value E, ok bool) {
	i := slices.Index(n, word)
	return E(max(i, 0)), i > 0 && word != ""
}
