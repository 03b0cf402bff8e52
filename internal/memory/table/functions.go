package table

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// beginsWith is the function begins_with. Only a string begins with a string.
func beginsWith(v types.AttributeValue, prefix string) bool {
	text, ok := v.(*types.AttributeValueMemberS)
	return ok && strings.HasPrefix(text.Value, prefix)
}

// contains is the function contains: a part of a string, or an element of a set or list.
func contains(v types.AttributeValue, part string) bool {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return strings.Contains(v.Value, part)
	case *types.AttributeValueMemberSS:
		return slices.Contains(v.Value, part)
	case *types.AttributeValueMemberL:
		return slices.ContainsFunc(v.Value, func(e types.AttributeValue) bool {
			text, ok := e.(*types.AttributeValueMemberS)
			return ok && text.Value == part
		})
	}
	return false
}

// sizeOf is the function size: characters, bytes or elements. Other types have no size.
func sizeOf(v types.AttributeValue) types.AttributeValue {
	var n int
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		n = utf8.RuneCountInString(v.Value)
	case *types.AttributeValueMemberB:
		n = len(v.Value)
	case *types.AttributeValueMemberL:
		n = len(v.Value)
	case *types.AttributeValueMemberM:
		n = len(v.Value)
	default:
		set, ok := elements(v)
		if !ok {
			return nil
		}
		n = len(set.all)
	}
	return &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
}
