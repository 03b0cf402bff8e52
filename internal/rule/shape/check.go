package shape

import (
	"fmt"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// fault says what is wrong with a part of an expression.
type fault struct {
	at      ast.Expr // nil: the whole expression
	problem string
}

func wrongAt(at ast.Expr, format string, args ...any) *fault {
	return &fault{at: at, problem: fmt.Sprintf(format, args...)}
}

// eventName is the name of the event in an expression.
const eventName = "event"

// scope is a name with its value, and the enclosing scope.
type scope struct {
	name   string
	value  any
	around *scope
}

func (s *scope) find(name string) (*scope, bool) {
	for ; s != nil; s = s.around {
		if s.name == name {
			return s, true
		}
	}
	return nil, false
}

// calls are the calls of an expression, by the id of their node. Functions are looked up once,
// when the expression is parsed.
type calls map[int64]*call

// check returns the first unknown name or function of the expression, and stores its calls.
func (k calls) check(e ast.Expr, names *scope) *fault {
	switch e.Kind() {
	case ast.LiteralKind:
		if _, ok := literal(e); !ok {
			return wrongAt(e, "bytes are not supported")
		}
	case ast.IdentKind:
		if _, ok := names.find(e.AsIdent()); !ok {
			return wrongAt(e, "undeclared reference to '%s'", e.AsIdent())
		}
	case ast.SelectKind:
		return k.check(e.AsSelect().Operand(), names)
	case ast.CallKind:
		return k.checkCall(e, names)
	case ast.ListKind:
		return k.checkAll(e.AsList().Elements(), names)
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			if f := k.checkAll([]ast.Expr{entry.AsMapEntry().Key(), entry.AsMapEntry().Value()}, names); f != nil {
				return f
			}
		}
	case ast.StructKind, ast.ComprehensionKind, ast.UnspecifiedExprKind:
		return wrongAt(e, "messages are not supported")
	}
	return nil
}

func (k calls) checkAll(all []ast.Expr, names *scope) *fault {
	for _, e := range all {
		if f := k.check(e, names); f != nil {
			return f
		}
	}
	return nil
}

func (k calls) checkCall(e ast.Expr, names *scope) *fault {
	c, ok := callOf(e, names)
	if !ok {
		return wrongAt(e, "undeclared reference to '%s'", c.name)
	}
	if len(c.args) < c.least || len(c.args) > c.most {
		return wrongAt(e, "%s has %d arguments, and must have %s", e.AsCall().FunctionName(), len(c.args), countOf(c.least, c.most))
	}
	k[e.ID()] = c
	if c.names == 0 {
		return k.checkAll(c.all(), names)
	}
	if c.target != nil {
		if f := k.check(c.target, names); f != nil {
			return f
		}
	}
	inner := names
	for _, name := range c.args[:c.named()] {
		if name.Kind() != ast.IdentKind {
			return wrongAt(name, "must be a name")
		}
		inner = &scope{name: name.AsIdent(), around: inner}
	}
	rest := c.args[c.named():]
	if c.bind { // the name is not in scope in its own value
		if f := k.check(rest[0], names); f != nil {
			return f
		}
		rest = rest[1:]
	}
	return k.checkAll(rest, inner)
}

func countOf(least, most int) string {
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d or %d", least, most)
}

// literal returns the value of a literal; false for bytes, which are not supported.
func literal(e ast.Expr) (any, bool) {
	switch v := e.AsLiteral().(type) {
	case types.Null:
		return nil, true
	case types.Bytes:
		return nil, false
	default:
		return v.Value(), true
	}
}
