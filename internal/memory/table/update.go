package table

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// apply returns the item after the actions. Every operand is read before the first
// change. The item given stays as it is.
func (s *scope) apply(actions []action) Item {
	type change struct {
		action

		value types.AttributeValue
	}
	changes := make([]change, len(actions))
	for i, a := range actions {
		changes[i].action = a
		if a.value != nil {
			changes[i].value = a.value(s)
		}
	}
	after := cloneMap(s.item)
	for _, c := range changes {
		value := c.value
		switch c.clause {
		case set, remove:
		case add:
			value = s.sum(c.path.in(s), value)
		case deleteFrom:
			value = s.without(c.path.in(s), value)
		}
		if s.err != nil {
			return nil
		}
		s.put(after, c.path, value)
	}
	return after
}

// cloneMap returns a copy that shares the values, which never change; never nil.
func cloneMap(item Item) Item {
	if item == nil {
		return make(Item)
	}
	return maps.Clone(item)
}

// put sets the value at the path in the map; nil removes it.
func (s *scope) put(in Item, p path, value types.AttributeValue) {
	name := p[0].in(s)
	if len(p) > 1 {
		parent, ok := in[name].(*types.AttributeValueMemberM)
		if !ok {
			s.fail("The document path provided in the update expression is invalid for update")
			return
		}
		copied := cloneMap(parent.Value)
		s.put(copied, p[1:], value)
		value = &types.AttributeValueMemberM{Value: copied}
	}
	if value == nil {
		delete(in, name)
	} else {
		in[name] = value
	}
}

// plus returns the sum of two numbers.
func (s *scope) plus(a, b types.AttributeValue) types.AttributeValue {
	x, ok := a.(*types.AttributeValueMemberN)
	y, ok2 := b.(*types.AttributeValueMemberN)
	if !ok || !ok2 {
		s.fail("An operand in the update expression has an incorrect data type")
		return nil
	}
	sum, err := plus(x.Value, y.Value)
	if err != nil && s.err == nil {
		s.err = err
	}
	return &types.AttributeValueMemberN{Value: sum}
}

// concat is the function list_append.
func (s *scope) concat(a, b types.AttributeValue) types.AttributeValue {
	x, ok := a.(*types.AttributeValueMemberL)
	y, ok2 := b.(*types.AttributeValueMemberL)
	if !ok || !ok2 {
		s.fail("An operand in the update expression has an incorrect data type")
		return nil
	}
	return &types.AttributeValueMemberL{Value: slices.Concat(x.Value, y.Value)}
}

// sum is the clause ADD: of a number, or of elements of a set. Nothing counts as 0, or
// as an empty set.
func (s *scope) sum(v, more types.AttributeValue) types.AttributeValue {
	if n, ok := more.(*types.AttributeValueMemberN); ok {
		if v == nil {
			return n
		}
		return s.plus(v, n)
	}
	added, ok := elements(more)
	if v == nil && ok {
		return more
	}
	set, ok2 := elements(v)
	if !ok || !ok2 || set.kind != added.kind {
		s.fail("An operand in the update expression has an incorrect data type")
		return nil
	}
	all := slices.Clone(set.all)
	for _, e := range added.all {
		if !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return setOf{set.kind, all}.value()
}

// without is the clause DELETE: the set without the elements. An empty set is removed.
func (s *scope) without(v, gone types.AttributeValue) types.AttributeValue {
	removed, ok := elements(gone)
	if v == nil && ok {
		return nil
	}
	set, ok2 := elements(v)
	if !ok || !ok2 || set.kind != removed.kind {
		s.fail("An operand in the update expression has an incorrect data type")
		return nil
	}
	all := slices.DeleteFunc(slices.Clone(set.all), func(e string) bool { return slices.Contains(removed.all, e) })
	return setOf{set.kind, all}.value()
}

// projected returns the attributes at the paths of one name.
func (s *scope) projected(paths []path) Item {
	out := make(Item, len(paths))
	for _, p := range paths {
		if v := p.in(s); v != nil {
			out[p[0].in(s)] = v
		}
	}
	return out
}
