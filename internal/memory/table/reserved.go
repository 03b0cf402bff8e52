package table

import (
	_ "embed"
	"strings"
	"sync"
)

// words are the reserved words, in order.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ReservedWords.html
//
//go:embed reserved.txt
var words string

var reservedWords = sync.OnceValue(func() map[string]bool { //nolint:gochecknoglobals // a constant
	all := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
})

// reserved reports whether an expression may not use the word as a name.
func reserved(word string) bool { return reservedWords()[strings.ToUpper(word)] }
