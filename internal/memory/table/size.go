package table

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Bytes of an item's size, besides names and contents.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
const (
	nestedBytes  = 3 // for a list or a map, empty or not
	elementBytes = 1 // for each element of a list or map
	flagBytes    = 1 // for a Boolean
)

// ItemSize returns the size of the item in bytes by DynamoDB's rules: the
// UTF-8 lengths of the names and the sizes of the values. The rules do not
// mention sets. A set counts as a list, the largest possible size.
//
// Storage adds 100 bytes to every item. Units do not count them.
func ItemSize(item Item) int {
	size := 0
	for name, value := range item {
		size += len(name) + valueSize(value)
	}
	return size
}

func valueSize(value types.AttributeValue) int {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return numberSize(v.Value)
	case *types.AttributeValueMemberL:
		size := nestedBytes + elementBytes*len(v.Value)
		for _, element := range v.Value {
			size += valueSize(element)
		}
		return size
	case *types.AttributeValueMemberM:
		return nestedBytes + elementBytes*len(v.Value) + ItemSize(v.Value)
	case *types.AttributeValueMemberSS:
		return setSize(v.Value, func(s string) int { return len(s) })
	case *types.AttributeValueMemberNS:
		return setSize(v.Value, numberSize)
	}
	return flagBytes
}

func setSize[T any](elements []T, size func(T) int) int {
	sum := nestedBytes + elementBytes*len(elements)
	for _, element := range elements {
		sum += size(element)
	}
	return sum
}

// numberSize returns a byte per two significant digits and one more: the rules'
// approximation. A negative number takes one more byte here. The rules do not say
// so: this is the more expensive reading.
func numberSize(text string) int {
	digits, negative := strings.CutPrefix(text, "-")
	digits = strings.Trim(strings.Replace(digits, ".", "", 1), "0")
	size := (len(digits)+1)/2 + 1
	if negative {
		size++
	}
	return size
}
