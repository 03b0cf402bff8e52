package table

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// path is the path of an attribute.
type path []step

// step is a name, or an index of a list when the name is empty.
type step struct {
	name  name
	index int
}

// in returns the value at the path; nil: the item has none.
func (p path) in(s *scope) types.AttributeValue {
	v := s.item[p[0].name.in(s)]
	for _, step := range p[1:] {
		v = step.of(v, s)
	}
	return v
}

func (st step) of(v types.AttributeValue, s *scope) types.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberM:
		if st.name != "" {
			return v.Value[st.name.in(s)]
		}
	case *types.AttributeValueMemberL:
		if st.name == "" && st.index < len(v.Value) {
			return v.Value[st.index]
		}
	}
	return nil
}

// overlaps reports whether one path is a part of the other.
func (p path) overlaps(other path, s *scope) bool {
	for i := range min(len(p), len(other)) {
		if p[i].name.in(s) != other[i].name.in(s) || p[i].index != other[i].index {
			return false
		}
	}
	return true
}

// disjoint returns an error when one path is a part of another.
func disjoint(paths []path, s *scope) error {
	seen := make(map[string][]path, len(paths))
	for _, p := range paths {
		name := p[0].name.in(s)
		if slices.ContainsFunc(seen[name], func(other path) bool { return p.overlaps(other, s) }) {
			return fmt.Errorf("Two document paths overlap with each other; must remove or rewrite one of these paths; both begin with: %s", name) //nolint:staticcheck // as AWS writes it
		}
		seen[name] = append(seen[name], p)
	}
	return nil
}
