package shape

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"

	"surehook.example/surehook/internal/cache"
	"surehook.example/surehook/internal/hook"
)

// Bounds of expressions. docs/limits.md lists them.
const (
	MaxExpression = 8 << 10 // bytes of an expression

	maxNodes       = 1000    // of an expression
	maxNesting     = 50      // levels of parentheses, lists, maps and calls
	maxProblem     = 300     // characters of an error
	maxExpressions = 4 << 20 // bytes of the expressions that a process keeps
	bytesOfNode    = 700     // more than a node takes
	versionDigits  = 12
)

// Error is the error of a transformation.
type Error struct {
	Problem string // for people: one line, without values of the payload
	Version string // of the expression
	Line    int    // of the problem, from 1; 0: unknown
	Column  int    // from 1
}

// Error returns the problem and its place.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Problem
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Problem)
}

// Compile checks the form of an expression. The error is an *Error.
func Compile(text string) error {
	_, err := parse(text)
	return err
}

// versionOf returns the name of an expression in attempts.
func versionOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "cel-" + hex.EncodeToString(sum[:])[:versionDigits]
}

// expression is a parsed expression whose names and functions are known.
type expression struct {
	version string
	bytes   int // about, and not less
	tree    *ast.AST
	calls   calls
}

// expressions keeps parsed expressions. The zero expressions is empty.
type expressions struct {
	once sync.Once
	kept *cache.Cache[string, *expression]
}

// get returns the cached expression, or parses the text. Two goroutines may parse the same text.
func (e *expressions) get(text string) (*expression, error) {
	e.once.Do(func() {
		e.kept = cache.New[string, *expression](maxExpressions, nil)
	})
	if parsed, ok := e.kept.Get(text); ok {
		return parsed, nil
	}
	parsed, err := parse(text)
	if err != nil {
		return nil, err
	}
	e.kept.Add(text, parsed, parsed.bytes)
	return parsed, nil
}

// parse returns the expression of the text. The error is an *Error.
func parse(text string) (*expression, error) {
	e := &expression{version: versionOf(text), calls: make(calls)}
	if len(text) > MaxExpression {
		return nil, &Error{Problem: fmt.Sprintf("must be at most %d bytes", MaxExpression), Version: e.version}
	}
	p, err := parser.NewParser(
		parser.Macros(), // evaluated here, see methods
		parser.EnableOptionalSyntax(true),
		parser.MaxRecursionDepth(maxNesting),
		parser.ErrorReportingLimit(1),
	)
	if err != nil {
		return nil, &Error{Problem: cleaned(err.Error()), Version: e.version}
	}
	tree, faults := p.Parse(common.NewTextSource(text))
	if all := faults.GetErrors(); len(all) > 0 {
		wrong := &Error{Problem: cleaned(all[0].Message), Version: e.version}
		if line := all[0].Location.Line(); line > 0 {
			wrong.Line, wrong.Column = line, all[0].Location.Column()+1
		}
		return nil, wrong
	}
	e.tree = tree
	nodes := 0
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(ast.Expr) { nodes++ }))
	e.bytes = 3*len(text) + bytesOfNode*(nodes+10)
	if nodes > maxNodes {
		return nil, &Error{Problem: fmt.Sprintf("has %d parts, and must have at most %d", nodes, maxNodes), Version: e.version}
	}
	if f := faultOf(func() { e.calls.check(&scope{name: eventName}, tree.Expr()) }); f != nil {
		return nil, e.wrong(f)
	}
	return e, nil
}

// wrong returns the fault as an error with its place.
func (e *expression) wrong(f *fault) *Error {
	wrong := &Error{Problem: cleaned(f.problem), Version: e.version}
	if f.at != nil {
		at := e.tree.SourceInfo().GetStartLocation(f.at.ID())
		wrong.Line, wrong.Column = at.Line(), at.Column()+1
	}
	return wrong
}

// cleaned returns the text as one line of at most maxProblem characters.
func cleaned(text string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.TrimSpace(text)))
	if len(runes) > maxProblem {
		runes = append(runes[:maxProblem-1], '…')
	}
	return string(runes)
}

// transform returns the result of the expression for the event. isText: the body is a string, and
// not JSON. The error is an *Error, or ErrStopped.
//
// Most evaluations take few steps, and so little memory that some may run at a time. One that needs
// more begins anew when it is the only one of its kind. So it delays no small one, of any tenant,
// and waits itself without memory.
func (s *Shaper) transform(done <-chan struct{}, text string, event *hook.Event) (c Content, isText bool, err error) {
	e, err := s.expressions.get(text)
	if err != nil {
		return Content{}, false, err
	}
	for _, r := range []struct {
		*places
		steps, number int
	}{{&s.small, smallSteps, smallPlaces}, {&s.large, maxSteps, largePlaces}} {
		v := &evaluation{left: r.steps, looked: r.steps, calls: e.calls, done: done}
		switch in := r.within(r.number, done, func() { c, isText, err = e.evaluate(v, event) }); {
		case !in, v.stopped:
			return Content{}, false, ErrStopped
		case v.left >= 0:
			return c, isText, err
		}
	}
	return c, isText, err
}

// evaluate returns the result of one evaluation. The error is an *Error.
func (e *expression) evaluate(v *evaluation, event *hook.Event) (c Content, isText bool, err error) {
	if f := faultOf(func() {
		c, isText = v.contentOf(v.eval(e.tree.Expr(), &scope{name: eventName, value: v.event(event)}))
	}); f != nil {
		return Content{}, false, e.wrong(f)
	}
	c.Version = e.version
	return c, isText, nil
}
