package table

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// path is the path of an attribute: its name, and names of maps in it.
type path []name

// in returns the value at the path; nil: the item has none.
func (p path) in(s *scope) types.AttributeValue {
	v := s.item[p[0].in(s)]
	for _, n := range p[1:] {
		m, ok := v.(*types.AttributeValueMemberM)
		if !ok {
			return nil
		}
		v = m.Value[n.in(s)]
	}
	return v
}

// overlaps reports whether one path is a part of the other.
func (p path) overlaps(other path, s *scope) bool {
	for i := range min(len(p), len(other)) {
		if p[i].in(s) != other[i].in(s) {
			return false
		}
	}
	return true
}

// disjoint returns an error when one path is a part of another.
func disjoint(paths []path, s *scope) error {
	seen := make(map[string][]path, len(paths))
	for _, p := range paths {
		name := p[0].in(s)
		if slices.ContainsFunc(seen[name], func(other path) bool { return p.overlaps(other, s) }) {
			return fmt.Errorf("Two document paths overlap with each other; must remove or rewrite one of these paths; both begin with: %s", name) //nolint:staticcheck // as AWS writes it
		}
		seen[name] = append(seen[name], p)
	}
	return nil
}
