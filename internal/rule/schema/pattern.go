package schema

import (
	"fmt"
	"math/bits"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// errPatterns reports patterns past MaxPatterns.
var errPatterns = fmt.Errorf("the patterns must have at most %d instructions in all: x{0,1000} has 2000 of them, "+
	"and maxLength none", MaxPatterns)

// patterns compiles the patterns of one schema, each once.
type patterns struct {
	known map[string]*pattern
	left  int // of MaxPatterns
}

// pattern is a compiled pattern with the size of its program, in instructions.
type pattern struct {
	*regexp.Regexp

	size int
}

// compile is a jsonschema.RegexpEngine. It does not compile a pattern past the bound, because its
// program could take 100 MB.
func (p *patterns) compile(text string) (jsonschema.Regexp, error) {
	if known := p.known[text]; known != nil {
		return known, nil
	}
	size := classes(text)
	if size > p.left {
		p.left = -1
		return nil, errPatterns
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	size += instructions(tree)
	if p.left -= size; p.left < 0 {
		return nil, errPatterns
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	p.known[text] = &pattern{Regexp: compiled, size: size}
	return p.known[text], nil
}

// classes returns the work of parsing the Unicode classes in a pattern, in instructions: a class
// such as \pL has 600 ranges, and a case-insensitive one is folded letter by letter.
func classes(text string) int {
	n := 100 * (strings.Count(text, `\p`) + strings.Count(text, `\P`))
	if fold.MatchString(text) {
		n += 500 * strings.Count(text, "[")
	}
	return n
}

var fold = regexp.MustCompile(`\(\?[a-zA-Z]*i`)

// instructions returns at least the number of instructions in the program of a pattern, without the
// two of every program, and at most about twice as many.
func instructions(re *syntax.Regexp) int {
	n := 1
	for _, sub := range re.Sub {
		n += 1 + instructions(sub)
	}
	switch re.Op { //nolint:exhaustive // all others have one instruction beside their parts
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass:
		return 1 + bits.Len(uint(len(re.Rune)))/8 // the ranges of the class are searched
	case syntax.OpRepeat:
		of := n - 2
		return n + of*re.Min + (of+1)*max(re.Max-re.Min, 0)
	}
	return n
}

// stepsOf returns the steps of matching a pattern against a text of size bytes.
func stepsOf(p jsonschema.Regexp, size int) int {
	known, ok := p.(*pattern)
	if !ok { // impossible: compile makes every pattern
		return MaxSteps
	}
	return 1 + size*known.size/32
}
