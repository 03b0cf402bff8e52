package table

import (
	"fmt"
	"slices"
	"sync"
)

const (
	maxKnown     = 1000 // parsed expressions of a kind that a table keeps
	maxPlacename = 255  // bytes of a name as #name or :value
)

// known keeps parsed expressions by their kind and text.
type known struct {
	mu  sync.Mutex
	all map[string]map[string]*expression
}

// parsed returns the parsed text, from an earlier request if there was one.
func (k *known) parsed(text, kind string, g grammar) (*expression, error) {
	if len(text) > maxExpressionBytes {
		return nil, fmt.Errorf("Expression size has exceeded the maximum allowed size; expression size: %d", len(text)) //nolint:staticcheck // as AWS writes it
	}
	if text == "" {
		return nil, fmt.Errorf("The expression can not be empty;") //nolint:staticcheck // as AWS writes it
	}
	k.mu.Lock()
	defer k.mu.Unlock()

	if made, ok := k.all[kind][text]; ok {
		return made, nil
	}
	made, err := parse(text, g)
	if err != nil {
		return nil, err
	}
	if k.all == nil {
		k.all = make(map[string]map[string]*expression)
	}
	if len(k.all[kind]) >= maxKnown || k.all[kind] == nil {
		k.all[kind] = make(map[string]*expression)
	}
	k.all[kind][text] = made
	return made, nil
}

// expressions are the expressions of one request, with their names and values.
type expressions struct {
	scope

	known *known
	all   []*expression

	inCondition, inUpdate, inFilter, inProjection, inKey *expression
}

// expressions returns the expressions of a request, which are to be parsed.
func (t *Table) expressions(names map[string]string, values Item) *expressions {
	e := &expressions{known: &t.known, scope: scope{names: names, values: values}}
	for name, v := range values {
		if err := checkValue(v, 1); err != nil {
			e.err = fmt.Errorf("value %s: %w", name, err)
		}
	}
	if names != nil && len(names) == 0 || values != nil && len(values) == 0 {
		e.err = invalid("ExpressionAttributeNames and ExpressionAttributeValues must not be empty")
	}
	return e
}

// parse parses the text, or returns nil for none.
func (e *expressions) parse(text *string, kind string, g grammar) *expression {
	if text == nil || e.err != nil {
		return nil
	}
	made, err := e.known.parsed(*text, kind, g)
	if err != nil {
		e.err = invalid("Invalid %s: %v", kind, err)
		return nil
	}
	for _, name := range made.names {
		if e.names[name] == "" || len(name) > maxPlacename {
			e.err = invalid("Invalid %s: An expression attribute name used in the document path is not defined, or too long; attribute name: %s", kind, name)
			return nil
		}
	}
	for _, name := range made.values {
		if e.values[name] == nil || len(name) > maxPlacename {
			e.err = invalid("Invalid %s: An expression attribute value used in expression is not defined, or too long; attribute value: %s", kind, name)
			return nil
		}
	}
	for _, check := range made.checks {
		if err := check(&e.scope); err != nil {
			e.err = invalid("Invalid %s: %v", kind, err)
			return nil
		}
	}
	e.all = append(e.all, made)
	return made
}

// complete returns the first error of the expressions; also for a name or a value that
// no expression uses.
func (e *expressions) complete() error {
	if e.err != nil {
		return e.err
	}
	for name := range e.names {
		if !slices.ContainsFunc(e.all, func(x *expression) bool { return slices.Contains(x.names, name) }) {
			return invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", name)
		}
	}
	for name := range e.values {
		if !slices.ContainsFunc(e.all, func(x *expression) bool { return slices.Contains(x.values, name) }) {
			return invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", name)
		}
	}
	return nil
}

// meets reports whether the item meets a condition or a filter. Without one every item
// does.
func (e *expressions) meets(c *expression, item Item) bool {
	if c == nil {
		return true
	}
	e.item = item
	return c.condition(&e.scope)
}

// shown returns the attributes of the projection; all without one.
func (e *expressions) shown(item Item) Item {
	if item == nil || e.inProjection == nil {
		return item
	}
	e.item = item
	return e.projected(e.inProjection.projection)
}
