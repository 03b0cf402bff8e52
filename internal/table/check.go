package table

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// Limits of DynamoDB.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const (
	maxItemBytes       = 400 << 10
	maxHashBytes       = 2048
	maxSortBytes       = 1024
	maxPageBytes       = 1 << 20
	maxExpressionBytes = 4 << 10
	maxNesting         = 32
	maxBatchKeys       = 100
	maxBatchBytes      = 16 << 20
	maxBatchWrites     = 25
	maxTransaction     = 100
	maxTransactBytes   = 4 << 20
)

// invalid returns an error like DynamoDB's answer to a malformed request.
func invalid(format string, args ...any) error {
	return &smithy.GenericAPIError{Code: "ValidationException", Message: fmt.Sprintf(format, args...), Fault: smithy.FaultClient}
}

// checkItem returns an error for an item that DynamoDB refuses.
func (t *Table) checkItem(item Item) error {
	if _, err := t.keyOf(item); err != nil {
		return err
	}
	for name, v := range item {
		if len(name) == 0 {
			return invalid("Attribute name must not be empty")
		}
		if err := checkValue(v, 1); err != nil {
			return err
		}
	}
	for _, index := range t.schema.Indexes {
		for _, name := range []string{index.Hash, index.Sort} {
			if v, ok := item[name]; ok {
				if s, ok := v.(*types.AttributeValueMemberS); !ok || s.Value == "" {
					return invalid("One or more parameter values were invalid: the key %s of index %s is no string, or empty", name, index.Name)
				}
			}
		}
	}
	if size := ItemSize(item); size > maxItemBytes {
		return invalid("Item size has exceeded the maximum allowed size")
	}
	return nil
}

func checkValue(v types.AttributeValue, depth int) error {
	if depth > maxNesting {
		return invalid("Nesting Levels have exceeded supported limits")
	}
	switch v := v.(type) {
	case *types.AttributeValueMemberS, *types.AttributeValueMemberB, *types.AttributeValueMemberBOOL:
		return nil
	case nil:
		return invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	case *types.AttributeValueMemberN:
		return checkNumber(v.Value)
	case *types.AttributeValueMemberL:
		for _, e := range v.Value {
			if err := checkValue(e, depth+1); err != nil {
				return err
			}
		}
	case *types.AttributeValueMemberM:
		for _, e := range v.Value {
			if err := checkValue(e, depth+1); err != nil {
				return err
			}
		}
	}
	if set, ok := elements(v); ok {
		return checkSet(set)
	}
	return nil
}

func checkSet(set setOf) error {
	if len(set.all) == 0 {
		return invalid("One or more parameter values were invalid: An %s set may not be empty", set.kind)
	}
	seen := make(map[string]bool, len(set.all))
	for _, e := range set.all {
		if set.kind == "N" {
			if err := checkNumber(e); err != nil {
				return err
			}
			e = normal(e)
		}
		if seen[e] {
			return invalid("One or more parameter values were invalid: Input collection %q contains duplicates", set.all)
		}
		seen[e] = true
	}
	return nil
}

// keyOf returns the primary key of an item.
func (t *Table) keyOf(item Item) (Key, error) {
	hash, err := keyText(item, t.schema.Hash, maxHashBytes)
	if err != nil {
		return Key{}, err
	}
	sort, err := keyText(item, t.schema.Sort, maxSortBytes)
	return Key{hash, sort}, err
}

// exactKey returns the primary key from attributes without others.
func (t *Table) exactKey(attributes Item) (Key, error) {
	if len(attributes) != 2 {
		return Key{}, invalid("The provided key element does not match the schema")
	}
	return t.keyOf(attributes)
}

func keyText(item Item, name string, most int) (string, error) {
	v, ok := item[name].(*types.AttributeValueMemberS)
	switch {
	case !ok:
		return "", invalid("One or more parameter values were invalid: Missing the key %s in the item, or another type", name)
	case v.Value == "":
		return "", invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: %s", name)
	case len(v.Value) > most:
		return "", invalid("One or more parameter values were invalid: Size of the key %s has exceeded the maximum size limit of %d bytes", name, most)
	}
	return v.Value, nil
}

// expressions are the expressions of one request, with their names and values.
type expressions struct {
	scope

	t   *Table
	all []*expression

	inCondition, inUpdate, inFilter, inProjection, inKey *expression
}

func (t *Table) expressions(names map[string]string, values Item) (*expressions, error) {
	for name, v := range values {
		if err := checkValue(v, 1); err != nil {
			return nil, fmt.Errorf("value %s: %w", name, err)
		}
	}
	return &expressions{t: t, scope: scope{names: names, values: values}}, nil
}

// parse parses the text, or returns nil for none.
func (e *expressions) parse(text *string, kind string, g grammar) *expression {
	if text == nil || e.err != nil {
		return nil
	}
	made, err := e.t.parsed(*text, kind, g)
	if err != nil {
		e.err = invalid("Invalid %s: %v", kind, err)
		return nil
	}
	for name := range made.names {
		if e.names[name] == "" {
			e.err = invalid("Invalid %s: An expression attribute name used in the document path is not defined; attribute name: %s", kind, name)
		}
	}
	for name := range made.values {
		if e.values[name] == nil {
			e.err = invalid("Invalid %s: An expression attribute value used in expression is not defined; attribute value: %s", kind, name)
		}
	}
	e.all = append(e.all, made)
	return made
}

// complete returns the first error of the expressions; also for a name or a value that
// no expression uses.
func (e *expressions) complete() error {
	for name := range e.names {
		if e.err == nil && !slices.ContainsFunc(e.all, func(x *expression) bool { return x.names[name] }) {
			e.err = invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", name)
		}
	}
	for name := range e.values {
		if e.err == nil && !slices.ContainsFunc(e.all, func(x *expression) bool { return x.values[name] }) {
			e.err = invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", name)
		}
	}
	return e.err
}

// parsed returns the parsed text, from an earlier request if there was one.
func (t *Table) parsed(text, kind string, g grammar) (*expression, error) {
	if len(text) > maxExpressionBytes {
		return nil, fmt.Errorf("Expression size has exceeded the maximum allowed size; expression size: %d", len(text)) //nolint:staticcheck // as AWS writes it
	}
	if text == "" {
		return nil, fmt.Errorf("The expression can not be empty;") //nolint:staticcheck,revive // as AWS writes it
	}
	id := known{kind, text}
	if made, ok := t.known[id]; ok {
		return made, nil
	}
	made, err := parse(text, g)
	if err != nil {
		return nil, err
	}
	if len(t.known) >= maxKnown {
		clear(t.known)
	}
	t.known[id] = made
	return made, nil
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

func duplicated(keys []Key) bool {
	seen := make(map[Key]bool, len(keys))
	return slices.ContainsFunc(keys, func(k Key) bool {
		again := seen[k]
		seen[k] = true
		return again
	})
}
