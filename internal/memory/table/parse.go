package table

import (
	"fmt"
	"slices"
	"strings"
)

// maxOperators is the number of operators and functions of an expression. AWS counts the
// "=" of SET, too:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/example_dynamodb_Scenario_ExpressionOperatorCounting_section.html
const maxOperators = 300

// scope is what an expression is evaluated against.
type scope struct {
	item   Item
	names  map[string]string
	values Item
	err    error // the first error; later results have no meaning
}

// keyCondition selects the rows of one partition.
type keyCondition struct {
	hash, sort name // sort is empty without a second condition
	value      string
	operator   string   // "<", ">", "BETWEEN" or "begins_with"
	bounds     []string // names of one or two values
}

// expression is a parsed expression, with the names and values that it uses.
type expression struct {
	condition  condition    // of a condition or a filter
	key        keyCondition // of a key condition
	projection []path
	updates    []action
	attributes []name // of paths
	names      []string
	values     []string

	checks []func(*scope) error // of the names and values of a request
}

// parser reads the words of an expression. After an error every word is the end.
type parser struct {
	text      string
	words     []word
	at        int
	made      *expression
	group     span // the last condition in parentheses
	operators int
	err       error
}

// span is the first and the last word of a part.
type span struct{ first, last int }

// grammar reads an expression of one kind.
type grammar func(*parser)

// parse reads the text by the grammar.
func parse(text string, g grammar) (*expression, error) {
	p := &parser{text: text, made: &expression{}}
	if p.words, p.err = lex(text); p.err != nil {
		return nil, p.err
	}
	g(p)
	if w := p.peek(); p.err == nil && w.kind != end {
		p.fail(w)
	}
	if p.err == nil && p.operators > maxOperators {
		p.err = fmt.Errorf("The expression contains too many operators; operator count: %d", p.operators) //nolint:staticcheck // as AWS writes it
	}
	return p.made, p.err
}

// check adds a check of the names and values of a request.
func (p *parser) check(f func(*scope) error) { p.made.checks = append(p.made.checks, f) }

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

// operator reads the keyword of an operator, if it comes next.
func (p *parser) operator(k string) bool {
	if !p.keyword(k) {
		return false
	}
	p.operators++
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
	p.operators++
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
		p.made.names = added(p.made.names, w.text)
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
	p.made.values = added(p.made.values, w.text)
	return w.text
}

func added(all []string, one string) []string {
	if slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}

func (p *parser) path() path {
	all := path{p.name()}
	p.made.attributes = append(p.made.attributes, all[0])
	for p.sign(".") {
		all = append(all, p.name())
	}
	return all
}

// projectionExpression reads names of attributes. It takes no path of several names.
func projectionExpression(p *parser) {
	for more := true; more; more = p.sign(",") {
		p.made.projection = append(p.made.projection, path{p.name()})
	}
	all := p.made.projection
	p.check(func(s *scope) error { return disjoint(all, s) })
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
	if w.kind != sign || !strings.Contains(" < > ", " "+w.text+" ") {
		p.fail(w)
	}
	k.operator, k.bounds = w.text, []string{p.value()}
}
