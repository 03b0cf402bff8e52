package shape

import (
	"fmt"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// fault says what is wrong with a part of an expression. Whoever finds one panics with it, as in
// text/template, and faultOf catches it: so no value that follows from a wrong one is worked out.
type fault struct {
	at      ast.Expr // nil: the whole expression
	problem string
}

func wrongAt(at ast.Expr, format string, args ...any) *fault {
	return &fault{at: at, problem: fmt.Sprintf(format, args...)}
}

// faultOf calls do, and returns the fault that it panicked with; nil for none.
func faultOf(do func()) (found *fault) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *fault:
			found = p
		default:
			panic(p)
		}
	}()
	do()
	return nil
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

// check stores the calls of the expressions. Its fault is the first unknown name or function.
func (k calls) check(names *scope, all ...ast.Expr) {
	for _, e := range all {
		switch e.Kind() {
		case ast.LiteralKind:
			if _, ok := literal(e); !ok {
				panic(wrongAt(e, "bytes are not supported"))
			}
		case ast.IdentKind:
			if _, ok := names.find(e.AsIdent()); !ok {
				panic(wrongAt(e, "undeclared reference to '%s'", e.AsIdent()))
			}
		case ast.SelectKind:
			k.check(names, e.AsSelect().Operand())
		case ast.CallKind:
			k.checkCall(e, names)
		case ast.ListKind:
			k.check(names, e.AsList().Elements()...)
		case ast.MapKind:
			for _, entry := range e.AsMap().Entries() {
				k.check(names, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
			}
		case ast.StructKind, ast.ComprehensionKind, ast.UnspecifiedExprKind:
			panic(wrongAt(e, "messages are not supported"))
		}
	}
}

func (k calls) checkCall(e ast.Expr, names *scope) {
	c, ok := callOf(e, names)
	if !ok {
		panic(wrongAt(e, "undeclared reference to '%s'", c.name))
	}
	if len(c.args) < c.least || len(c.args) > c.most {
		panic(wrongAt(e, "%s has %d arguments, and must have %s", e.AsCall().FunctionName(), len(c.args), countOf(c.least, c.most)))
	}
	k[e.ID()] = c
	if c.target != nil {
		k.check(names, c.target)
	}
	inner := names
	for _, name := range c.args[:c.names] {
		if name.Kind() != ast.IdentKind {
			panic(wrongAt(name, "must be a name"))
		}
		inner = &scope{name: name.AsIdent(), around: inner}
	}
	rest := c.args[c.names:]
	if c.bind { // the name is not in scope in its own value
		k.check(names, rest[0])
		rest = rest[1:]
	}
	k.check(inner, rest...)
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
