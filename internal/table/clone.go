package table

import (
	"bytes"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// clone returns a deep copy, with numbers in their normal form.
func clone(v types.AttributeValue) types.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: v.Value}
	case *types.AttributeValueMemberN:
		return &types.AttributeValueMemberN{Value: normal(v.Value)}
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
		all := make([]string, len(v.Value))
		for i, e := range v.Value {
			all[i] = normal(e)
		}
		return &types.AttributeValueMemberNS{Value: all}
	case *types.AttributeValueMemberSS:
		return &types.AttributeValueMemberSS{Value: slices.Clone(v.Value)}
	case *types.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Value}
	}
	return v // no other type passes checkValue
}

func cloneItem(item Item) Item {
	copied := make(Item, len(item))
	for name, v := range item {
		copied[name] = clone(v)
	}
	return copied
}
