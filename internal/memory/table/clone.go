package table

import (
	"bytes"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// clone returns a deep copy.
func clone(v types.AttributeValue) types.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: bytes.Clone(v.Value)}
	case *types.AttributeValueMemberL:
		all := make([]types.AttributeValue, len(v.Value))
		for i, e := range v.Value {
			all[i] = clone(e)
		}
		return &types.AttributeValueMemberL{Value: all}
	case *types.AttributeValueMemberM:
		return &types.AttributeValueMemberM{Value: cloneItem(v.Value)}
	case *types.AttributeValueMemberNS:
		return &types.AttributeValueMemberNS{Value: slices.Clone(v.Value)}
	case *types.AttributeValueMemberSS:
		return &types.AttributeValueMemberSS{Value: slices.Clone(v.Value)}
	}
	return v // a text, a number or a Boolean, which nobody changes
}

func cloneItem(item Item) Item {
	copied := make(Item, len(item))
	for name, v := range item {
		copied[name] = clone(v)
	}
	return copied
}
