package shape

import (
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// toJSON leaves a number of the payload as it is.
func toJSON(v *evaluation, c *call, args []any) any {
	v.spendValue(args[0], c.at)
	return string(v.json(args[0], "json", c.at))
}

func toString(v *evaluation, c *call, value any) any {
	switch of := value.(type) {
	case nil:
		panic(notConverted(c, value))
	case time.Time:
		return stamp(of)
	}
	return converted(types.StringType)(v, c, value)
}

func notConverted(c *call, value any) *fault {
	return wrongAt(c.at, "%s cannot be converted to %s", typeOf(value), c.name)
}

// converted returns the conversion to a type as in CEL: of a double to its whole part, and of a time
// to seconds.
func converted(to ref.Type) func(v *evaluation, c *call, value any) any {
	return func(v *evaluation, c *call, value any) any {
		if _, isText := value.(string); isText && to == types.DoubleType {
			v.spend(exactSteps, c.at)
		}
		result := celOf(value).ConvertToType(to)
		if types.IsError(result) {
			panic(notConverted(c, value))
		}
		return result.Value()
	}
}

func toBool(_ *evaluation, c *call, value any) any {
	switch value {
	case true, "true":
		return true
	case false, "false":
		return false
	}
	panic(notConverted(c, value))
}
