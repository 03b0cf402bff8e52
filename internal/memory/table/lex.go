package table

import (
	"fmt"
	"strings"
)

// kind is the kind of a word of an expression.
type kind int

const (
	end    kind = iota
	bare        // an attribute's name, a keyword or a function
	named       // #name
	valued      // :value
	sign        // an operator, a bracket, a comma or a full stop
)

// word is a word of an expression.
type word struct {
	kind kind
	text string
	at   int // offset in bytes
}

// is reports whether the word is the keyword, in any case.
func (w word) is(keyword string) bool { return w.kind == bare && strings.EqualFold(w.text, keyword) }

// lex splits an expression into words. The last one is the end.
func lex(text string) ([]word, error) {
	var words []word
	for at := 0; at < len(text); {
		c := text[at]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			at++
			continue
		case c == '#' || c == ':' || isLetter(c):
			w := word{kind: kindOf(c), at: at}
			at++
			for at < len(text) && (isLetter(text[at]) || isDigit(text[at])) {
				at++
			}
			w.text = text[w.at:at]
			if w.kind != bare && len(w.text) == 1 {
				return nil, syntax(text, w)
			}
			words = append(words, w)
			continue
		}
		w := word{kind: sign, text: string(c), at: at}
		if two := text[at:min(at+2, len(text))]; two == "<=" {
			w.text = two
		} else if !strings.ContainsRune("=<>(),.+", rune(c)) {
			return nil, syntax(text, w)
		}
		at += len(w.text)
		words = append(words, w)
	}
	return append(words, word{kind: end, at: len(text)}), nil
}

func kindOf(c byte) kind {
	switch c {
	case '#':
		return named
	case ':':
		return valued
	}
	return bare
}

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// syntax returns the error of an expression that is malformed at the word.
func syntax(text string, w word) error {
	token := w.text
	if w.kind == end {
		token = "<EOF>"
	}
	return fmt.Errorf("Syntax error; token: %q, at byte %d of %q", token, w.at, text) //nolint:staticcheck // as AWS writes it
}
