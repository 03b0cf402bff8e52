package surehook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/constructs-go/constructs/v10"
)

// maxVariables is the room for all variables of a function, in bytes. Lambda refuses more, and
// CloudFormation then rolls the deployment back.
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
const maxVariables = 4096

// The longest texts that AWS chooses at the deployment, in bytes.
const (
	longestPlace  = 56 // https://sqs.cn-northwest-1.amazonaws.com.cn/123456789012/; what is before a name in an ARN is shorter
	longestName   = 80 // of a queue; of other resources what CloudFormation chooses is shorter
	longestRandom = 14 // hyphens before and after the logical id in a name, and 12 characters
	longestPart   = 15 // of a text with several references: an IPv4 address, or the id of an API
	longestPrefix = 40 // see prefixes
)

// checkVariables reports a function whose variables can have no room in Lambda, with the longest
// texts that AWS chooses, and with one parameter of a release at its length in parameters.
func checkVariables(scope constructs.Construct, parameters map[string]int) error {
	stack := awscdk.Stack_Of(scope)
	r := room{prefix: longestPrefix, parameters: parameters}
	if name := stack.StackName(); !*awscdk.Token_IsUnresolved(name) {
		r.prefix = len(*name)
	}
	for _, child := range *scope.Node().Children() {
		if f, ok := child.(awslambda.Function); ok {
			environment, _ := stack.Resolve(cfnOf[awslambda.CfnFunction](f).Environment()).(map[string]any)
			variables, _ := environment["variables"].(map[string]any)
			if err := r.check(*child.Node().Id(), variables); err != nil {
				return err
			}
		}
	}
	return nil
}

// room measures values of a template.
type room struct {
	prefix     int            // bytes of the stack's name
	parameters map[string]int // bytes of each
}

// check reports variables that take more than maxVariables. AWS does not say what counts
// beside names and values, so the quotes of JSON count too.
func (r room) check(function string, variables map[string]any) error {
	size, longest, parameter := len("{}"), 0, 0
	var name string
	for variable, value := range variables {
		bytes := r.longest(value, false)
		if bytes > longest {
			longest, name = bytes, variable
		}
		ref, _ := value.(map[string]any)
		if made := r.parameters[variable]; made > 0 || ref != nil && r.parameters[fmt.Sprint(ref["Ref"])] > 0 {
			parameter, bytes = max(parameter, cmp.Or(made, bytes)), 0
		}
		size += len(variable) + bytes + len(`"":"",`)
	}
	if size += parameter; size > maxVariables {
		return fmt.Errorf("the variables of function %s can take %d bytes, and Lambda has room for %d: shorten %s, of %d bytes, or other settings",
			strings.ToLower(function), size, maxVariables, name, longest)
	}
	return nil
}

// longest returns the bytes of the longest text that a value can become, alone or as a part
// of a text.
func (r room) longest(value any, part bool) int {
	if text, ok := value.(string); ok {
		quoted, _ := json.Marshal(text) //nolint:errchkjson // every string has JSON
		return len(quoted) - len(`""`)
	}
	for kind, v := range value.(map[string]any) { //nolint:forcetypeassert,errcheck // a function of CloudFormation
		arguments, _ := v.([]any)
		switch kind {
		case "Ref":
			return r.reference(fmt.Sprint(v), part)
		case "Fn::GetAtt":
			return r.reference(fmt.Sprint(arguments[0]), part)
		case "Fn::If":
			return max(r.longest(arguments[1], part), r.longest(arguments[2], part))
		case "Fn::Join":
			parts, _ := arguments[1].([]any)
			size := r.longest(arguments[0], true) * (len(parts) - 1)
			for _, one := range parts {
				size += r.longest(one, true)
			}
			return size
		}
	}
	return maxVariables // the room of a text that nobody knows
}

// reference returns the bytes of the longest text of a parameter or of a resource.
func (r room) reference(to string, part bool) int {
	switch bytes := r.parameters[to]; {
	case bytes > 0:
		return bytes
	case to == "AWS::StackName":
		return r.prefix
	case part || strings.HasPrefix(to, "AWS::"):
		return longestPart
	}
	return longestPlace + min(longestName, r.prefix+len(to)+longestRandom)
}
