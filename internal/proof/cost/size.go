package cost

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is an item of DynamoDB as the SDK has it.
type Item = map[string]types.AttributeValue

// What an item's size consists of beside names and contents.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
const (
	nestedBytes  = 3 // of a list or a map, empty or not
	elementBytes = 1 // of each element of one
	flagBytes    = 1 // of a Boolean or null
)

// ItemSize returns the size of the item in bytes, as DynamoDB counts it: the
// UTF-8 lengths of the names and the sizes of the values. The rules speak of
// sets nowhere; a set is counted as a list, which is the most that it can be.
//
// The 100 bytes that every item takes beside that are storage, and count for no unit.
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
	case *types.AttributeValueMemberBS:
		return setSize(v.Value, func(b []byte) int { return len(b) })
	}
	return flagBytes // Boolean or null
}

func setSize[T any](elements []T, size func(T) int) int {
	sum := nestedBytes + elementBytes*len(elements)
	for _, element := range elements {
		sum += size(element)
	}
	return sum
}

// numberSize is a byte per two significant digits and one more; the rules call
// that approximate. A negative number takes a byte more, which they do not say
// but which is the more expensive reading.
func numberSize(text string) int {
	digits, negative := strings.CutPrefix(text, "-")
	digits, _, _ = strings.Cut(strings.ToLower(digits), "e")
	digits = strings.Replace(digits, ".", "", 1)
	digits = strings.Trim(strings.TrimPrefix(digits, "+"), "0")
	size := (len(digits)+1)/2 + 1
	if negative {
		size++
	}
	return size
}
