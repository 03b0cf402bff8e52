package table

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// scope is what an expression is evaluated against.
type scope struct {
	item   Item
	names  map[string]string
	values Item
	err    error // the first error; later results have no meaning
}

// operand returns the value of an operand; nil: the item lacks it.
type operand func(*scope) types.AttributeValue

// condition reports whether the scope's item meets a condition.
type condition func(*scope) bool

// keyCondition selects the rows of one partition.
type keyCondition struct {
	hash, sort name // sort is empty without a second condition
	value      string
	operator   string   // "=", "<", "<=", ">", ">=", "BETWEEN" or "begins_with"
	bounds     []string // names of one or two values
}

// expression is a parsed expression, with the names and values that it uses.
type expression struct {
	condition  condition    // of a condition or a filter
	key        keyCondition // of a key condition
	projection []path
	updates    []action
	names      map[string]bool
	values     map[string]bool
}

// parser reads the words of an expression. After an error every word is the end.
type parser struct {
	text  string
	words []word
	at    int
	made  *expression
	err   error
}

// grammar reads an expression of one kind.
type grammar func(*parser)

// parse reads the text by the grammar.
func parse(text string, g grammar) (*expression, error) {
	p := &parser{text: text, made: &expression{names: make(map[string]bool), values: make(map[string]bool)}}
	if p.words, p.err = lex(text); p.err != nil {
		return nil, p.err
	}
	g(p)
	if w := p.peek(); p.err == nil && w.kind != end {
		p.fail(w)
	}
	return p.made, p.err
}

func (p *parser) peek() word {
	if p.err != nil {
		return word{kind: end, at: len(p.text)}
	}
	return p.words[p.at]
}

func (p *parser) next() word {
	w := p.peek()
	if p.err == nil && w.kind != end {
		p.at++
	}
	return w
}

func (p *parser) fail(w word) {
	if p.err == nil {
		p.err = syntax(p.text, w)
	}
}

// sign reads the sign, if it comes next.
func (p *parser) sign(s string) bool {
	if w := p.peek(); w.kind != sign || w.text != s {
		return false
	}
	p.next()
	return true
}

// keyword reads the keyword, if it comes next.
func (p *parser) keyword(k string) bool {
	if !p.peek().is(k) {
		return false
	}
	p.next()
	return true
}

func (p *parser) want(s string) {
	if !p.sign(s) {
		p.fail(p.peek())
	}
}

// call reads "function(", if it comes next. Names of functions have a case.
func (p *parser) call(function string) bool {
	if w := p.peek(); w.kind != bare || w.text != function || p.words[p.at+1].text != "(" {
		return false
	}
	p.next()
	p.next()
	return true
}

// name is a name in an expression: the attribute's, or "#..." for a name of the request.
type name string

func (n name) in(s *scope) string {
	if strings.HasPrefix(string(n), "#") {
		return s.names[string(n)]
	}
	return string(n)
}

func (p *parser) name() name {
	w := p.next()
	switch {
	case w.kind == named:
		p.made.names[w.text] = true
	case w.kind == bare && reserved(w.text):
		if p.err == nil {
			p.err = fmt.Errorf("Attribute name is a reserved keyword; reserved keyword: %s", w.text) //nolint:staticcheck // as AWS writes it
		}
	case w.kind != bare:
		p.fail(w)
	}
	return name(w.text)
}

// value reads ":value", and returns its name.
func (p *parser) value() string {
	w := p.next()
	if w.kind != valued {
		p.fail(w)
	}
	p.made.values[w.text] = true
	return w.text
}

func (p *parser) path() path {
	all := path{step{name: p.name()}}
	for {
		switch {
		case p.sign("."):
			all = append(all, step{name: p.name()})
		case p.sign("["):
			w := p.next()
			index, err := strconv.Atoi(w.text)
			if err != nil {
				p.fail(w)
			}
			all = append(all, step{index: index})
			p.want("]")
		default:
			return all
		}
	}
}

// operand reads a path, a value, or the size of a path.
func (p *parser) operand() operand {
	if p.peek().kind == valued {
		v := p.value()
		return func(s *scope) types.AttributeValue { return s.values[v] }
	}
	if p.call("size") {
		of := p.path()
		p.want(")")
		return func(s *scope) types.AttributeValue { return sizeOf(of.in(s)) }
	}
	of := p.path()
	return of.in
}

// conditionExpression reads a condition or a filter.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
func conditionExpression(p *parser) { p.made.condition = p.either() }

func (p *parser) either() condition {
	left := p.both()
	for p.keyword("OR") {
		a, b := left, p.both()
		left = func(s *scope) bool { return a(s) || b(s) }
	}
	return left
}

func (p *parser) both() condition {
	left := p.not()
	for p.keyword("AND") {
		a, b := left, p.not()
		left = func(s *scope) bool { return a(s) && b(s) }
	}
	return left
}

func (p *parser) not() condition {
	if p.keyword("NOT") {
		c := p.not()
		return func(s *scope) bool { return !c(s) }
	}
	if p.sign("(") {
		c := p.either()
		p.want(")")
		return c
	}
	return p.test()
}

// test reads a function or a comparison.
func (p *parser) test() condition {
	switch {
	case p.call("attribute_exists"):
		of := p.path()
		p.want(")")
		return func(s *scope) bool { return of.in(s) != nil }
	case p.call("attribute_not_exists"):
		of := p.path()
		p.want(")")
		return func(s *scope) bool { return of.in(s) == nil }
	case p.call("begins_with"):
		return p.pair(beginsWith)
	case p.call("contains"):
		return p.pair(contains)
	}
	left := p.operand()
	switch {
	case p.keyword("BETWEEN"):
		low := p.operand()
		if !p.keyword("AND") {
			p.fail(p.peek())
		}
		high := p.operand()
		return func(s *scope) bool {
			v := left(s)
			return compares(">=", v, low(s)) && compares("<=", v, high(s))
		}
	case p.keyword("IN"):
		return p.oneOf(left)
	}
	w := p.next()
	if w.kind != sign || !strings.ContainsAny(w.text, "=<>") {
		p.fail(w)
	}
	right := p.operand()
	return func(s *scope) bool { return compares(w.text, left(s), right(s)) }
}

// pair reads the arguments of a function of a path and an operand.
func (p *parser) pair(f func(a, b types.AttributeValue) bool) condition {
	of := p.path()
	p.want(",")
	argument := p.operand()
	p.want(")")
	return func(s *scope) bool { return f(of.in(s), argument(s)) }
}

func (p *parser) oneOf(left operand) condition {
	p.want("(")
	all := []operand{p.operand()}
	for p.sign(",") {
		all = append(all, p.operand())
	}
	p.want(")")
	return func(s *scope) bool {
		for _, one := range all {
			if compares("=", left(s), one(s)) {
				return true
			}
		}
		return false
	}
}

// projectionExpression reads names of attributes. It takes no path of several names.
func projectionExpression(p *parser) {
	for more := true; more; more = p.sign(",") {
		p.made.projection = append(p.made.projection, path{step{name: p.name()}})
	}
}

// keyExpression reads "hash = :value", and one condition of the sort key.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.KeyConditionExpressions.html
func keyExpression(p *parser) {
	k := &p.made.key
	k.hash = p.name()
	p.want("=")
	k.value = p.value()
	if !p.keyword("AND") {
		return
	}
	if p.call("begins_with") {
		k.operator, k.sort = "begins_with", p.name()
		p.want(",")
		k.bounds = []string{p.value()}
		p.want(")")
		return
	}
	k.sort = p.name()
	if p.keyword("BETWEEN") {
		k.operator, k.bounds = "BETWEEN", []string{p.value()}
		if !p.keyword("AND") {
			p.fail(p.peek())
		}
		k.bounds = append(k.bounds, p.value())
		return
	}
	w := p.next()
	if w.kind != sign || !strings.Contains(" = < <= > >= ", " "+w.text+" ") {
		p.fail(w)
	}
	k.operator, k.bounds = w.text, []string{p.value()}
}

// clause is a clause of an update expression.
type clause string

const (
	set        clause = "SET"
	remove     clause = "REMOVE"
	add        clause = "ADD"
	deleteFrom clause = "DELETE"
)

// action is one change of an update.
type action struct {
	clause clause
	path   path
	value  operand // nil for REMOVE
}

// updateExpression reads the clauses of an update, each at most once.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html
func updateExpression(p *parser) {
	seen := make(map[clause]bool)
	for more := true; more; more = p.peek().kind != end {
		w := p.next()
		c := clause(strings.ToUpper(w.text))
		if w.kind != bare || c != set && c != remove && c != add && c != deleteFrom || seen[c] {
			p.fail(w)
			return
		}
		seen[c] = true
		for more := true; more; more = p.sign(",") {
			p.made.updates = append(p.made.updates, p.action(c))
		}
	}
}

func (p *parser) action(c clause) action {
	a := action{clause: c, path: p.path()}
	switch c {
	case set:
		p.want("=")
		a.value = p.sum()
	case add, deleteFrom:
		v := p.value()
		a.value = func(s *scope) types.AttributeValue { return s.values[v] }
	case remove:
	}
	return a
}

// sum reads a new value: an operand, or the sum or the difference of two.
func (p *parser) sum() operand {
	left := p.part()
	minus := p.sign("-")
	if !minus && !p.sign("+") {
		return left
	}
	right := p.part()
	return func(s *scope) types.AttributeValue { return s.plus(left(s), right(s), minus) }
}

// part reads an operand of a new value. It must exist.
func (p *parser) part() operand {
	switch {
	case p.call("if_not_exists"):
		of := p.path()
		p.want(",")
		or := p.part()
		p.want(")")
		return func(s *scope) types.AttributeValue {
			if v := of.in(s); v != nil {
				return v
			}
			return or(s)
		}
	case p.call("list_append"):
		first := p.part()
		p.want(",")
		second := p.part()
		p.want(")")
		return func(s *scope) types.AttributeValue { return s.concat(first(s), second(s)) }
	}
	of := p.operand()
	return func(s *scope) types.AttributeValue {
		v := of(s)
		if v == nil {
			s.fail("The provided expression refers to an attribute that does not exist in the item")
		}
		return v
	}
}

func (s *scope) fail(message string) {
	if s.err == nil {
		s.err = invalid("%s", message)
	}
}
