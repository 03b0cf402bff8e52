package shape

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	lru "github.com/hashicorp/golang-lru/v2"

	"surehook/internal/hook"
)

// Bounds of transformations. docs/limits.md lists the bounds.
const (
	MaxExpression = 8 << 10   // bytes of an expression
	MaxBody       = 256 << 10 // bytes of a body

	maxCost       = 1000000 // of one evaluation: a step costs 1 or more, and 10 bytes of text cost 1
	maxDepth      = 64      // of lists and maps in a result
	keptPrograms  = 200     // in one process
	versionDigits = 12
)

// Error is the error of a transformation.
type Error struct {
	Problem string // for people
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
func Compile(expression string) error {
	_, err := compile(expression)
	return err
}

// versionOf returns the name of an expression in attempts.
func versionOf(expression string) string {
	sum := sha256.Sum256([]byte(expression))
	return "cel-" + hex.EncodeToString(sum[:])[:versionDigits]
}

// programs keeps compiled expressions. The zero programs is empty.
type programs struct {
	mu   sync.Mutex
	kept *lru.Cache[string, cel.Program]
}

// get returns the kept program of the expression, or compiles the expression.
func (p *programs) get(expression string) (cel.Program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.kept == nil {
		p.kept, _ = lru.New[string, cel.Program](keptPrograms) // an error for a size of 0 only
	}
	if program, ok := p.kept.Get(expression); ok {
		return program, nil
	}
	program, err := compile(expression)
	if err == nil {
		p.kept.Add(expression, program)
	}
	return program, err
}

// environment returns the language of transformations, and makes it at the first call: no
// other process pays for it.
//
//nolint:gochecknoglobals // never changes
var environment = sync.OnceValues(func() (*cel.Env, error) {
	env, err := cel.NewCustomEnv(
		cel.StdLib(cel.StdLibSubset(withoutPatterns())),
		cel.OptionalTypes(),
		cel.DefaultUTCTimeZone(true),
		ext.Bindings(),
		ext.TwoVarComprehensions(),
		ext.Encoders(),
		cel.Lib(text{}),
		cel.Variable("event", cel.MapType(cel.StringType, cel.DynType)),
		cel.ParserExpressionSizeLimit(MaxExpression),
	)
	if err != nil {
		return nil, fmt.Errorf("make the language of transformations: %w", err)
	}
	return env, nil
})

// compile returns the program of the expression. The error is an *Error.
func compile(expression string) (cel.Program, error) {
	version := versionOf(expression)
	if len(expression) > MaxExpression {
		return nil, &Error{Problem: fmt.Sprintf("must be at most %d bytes", MaxExpression), Version: version}
	}
	env, err := environment()
	if err != nil {
		return nil, &Error{Problem: err.Error(), Version: version}
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, &Error{
			Problem: strings.TrimSpace(first.Message), Version: version,
			Line: first.Location.Line(), Column: first.Location.Column() + 1,
		}
	}
	if wrong := checkComparisons(ast.NativeRep()); wrong != nil {
		wrong.Version = version
		return nil, wrong
	}
	program, err := env.Program(ast, cel.CostTracking(bySize{}), cel.CostLimit(maxCost), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, &Error{Problem: err.Error(), Version: version}
	}
	return program, nil
}

// transform returns the result of the expression for the event.
func (s *Shaper) transform(expression string, event *hook.Event) (Content, error) {
	version := versionOf(expression)
	program, err := s.programs.get(expression)
	if err != nil {
		return Content{}, err
	}
	input, err := eventOf(event)
	if err != nil {
		return Content{}, &Error{Problem: err.Error(), Version: version}
	}
	result, _, err := program.Eval(map[string]any{"event": input})
	if err != nil {
		return Content{}, &Error{Problem: problemOf(err), Version: version}
	}
	content, err := contentOf(result)
	if err != nil {
		return Content{}, &Error{Problem: err.Error(), Version: version}
	}
	content.Version = version
	return content, nil
}

var errCost = errors.New("takes too many steps for this event")

// problemOf returns the text of an error of CEL.
func problemOf(err error) string {
	if strings.Contains(err.Error(), "cost limit exceeded") {
		return errCost.Error()
	}
	return err.Error()
}

// bySize charges every call by the size of its arguments and its result.
type bySize struct{}

// CallCost is called after each call.
func (bySize) CallCost(_, _ string, args []ref.Val, result ref.Val) *uint64 {
	cost := 1 + sizeOf(result)
	for _, arg := range args {
		cost += sizeOf(arg)
	}
	return &cost
}
