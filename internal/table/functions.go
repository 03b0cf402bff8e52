package table

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// beginsWith is the function begins_with of strings and binary values.
func beginsWith(v, prefix types.AttributeValue) bool {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		prefix, ok := prefix.(*types.AttributeValueMemberS)
		return ok && strings.HasPrefix(v.Value, prefix.Value)
	case *types.AttributeValueMemberB:
		prefix, ok := prefix.(*types.AttributeValueMemberB)
		return ok && bytes.HasPrefix(v.Value, prefix.Value)
	}
	return false
}

// contains is the function contains: a part of a string, or an element of a set or list.
func contains(v, part types.AttributeValue) bool {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		part, ok := part.(*types.AttributeValueMemberS)
		return ok && strings.Contains(v.Value, part.Value)
	case *types.AttributeValueMemberB:
		part, ok := part.(*types.AttributeValueMemberB)
		return ok && bytes.Contains(v.Value, part.Value)
	case *types.AttributeValueMemberL:
		return slices.ContainsFunc(v.Value, func(e types.AttributeValue) bool { return equal(e, part) })
	}
	set, ok := elements(v)
	if !ok {
		return false
	}
	switch part := part.(type) {
	case *types.AttributeValueMemberS:
		return set.kind == "S" && slices.Contains(set.all, part.Value)
	case *types.AttributeValueMemberN:
		return set.kind == "N" && slices.Contains(set.all, part.Value)
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
