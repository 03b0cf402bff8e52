package strict

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"surehook.example/surehook/localstack/tools/iam"
)

// The emulator evaluates the policies of a request's role. The front adds what MiniStack
// leaves out or asks wrongly (see [unjudged]), and records what each role did.

// uses count the permitted calls of each role, by the role's name.
type uses struct {
	mu   sync.Mutex
	done map[string]map[iam.Call]int
}

// Used returns the calls of the role that were permitted so far, with their numbers.
func (f *Front) Used(role string) map[iam.Call]int {
	f.uses.mu.Lock()
	defer f.uses.mu.Unlock()

	return maps.Clone(f.uses.done[role])
}

func (u *uses) add(role string, calls []iam.Call) {
	u.mu.Lock()
	defer u.mu.Unlock()

	if u.done == nil {
		u.done = map[string]map[iam.Call]int{}
	}
	if u.done[role] == nil {
		u.done[role] = map[iam.Call]int{}
	}
	for _, c := range calls {
		u.done[role][c]++
	}
}

// permit forwards the call if the policies of the request's role permit the call. A
// refusal is a violation: a retry could hide the refusal from a test.
func (f *Front) permit(w http.ResponseWriter, r *http.Request, c *call, forward func(http.ResponseWriter)) {
	role, err := f.role(r)
	if err != nil {
		f.record(Violation{Service: c.service, Operation: c.operation, Code: "InternalFailure", Message: err.Error(), Count: 1})
	}
	if role == nil {
		forward(w)
		return
	}
	calls := c.questions(scope(r).region, role.Account)
	if unjudged(c) {
		for _, asked := range calls {
			if !role.Allows(asked) {
				f.denied(c, role, calls)
				(&refusal{code: "AccessDeniedException", status: http.StatusForbidden, message: fmt.Sprintf("%s is not authorized to perform: %s", role.Name, asked)}).write(w, c.model)
				return
			}
		}
		signAsOwner(r)
	}
	status := &answer{ResponseWriter: w}
	forward(status)
	if status.code == http.StatusForbidden && !refusedByTrust(c, role, calls) {
		f.denied(c, role, calls)
		return
	}
	f.uses.add(role.Name, calls)
}

// refusedByTrust reports whether the trust policy of another role refused the call. The
// role of a customer may do so.
func refusedByTrust(c *call, role *iam.Role, calls []iam.Call) bool {
	return c.service == "sts" && len(calls) > 0 && role.Allows(calls[0])
}

func (f *Front) role(r *http.Request) (*iam.Role, error) {
	if f.opts.Role == nil {
		return nil, nil //nolint:nilnil // there are no roles
	}
	by := scope(r)
	return f.opts.Role(context.WithoutCancel(r.Context()), by.key, by.region) // a caller that goes away breaks no rule
}

func (f *Front) denied(c *call, role *iam.Role, calls []iam.Call) {
	texts := make([]string, 0, len(calls))
	for _, asked := range calls {
		texts = append(texts, asked.String())
	}
	f.record(Violation{Service: c.service, Operation: c.operation, Code: "AccessDenied", Message: role.Name + " may not: " + strings.Join(slices.Compact(texts), ", "), Count: 1})
}

// unjudged reports whether the front judges the call, because MiniStack asks for something
// else than AWS. The table in the test TestMiniStackEnforcesPolicies proves each case.
func unjudged(c *call) bool {
	switch c.service {
	case "scheduler": // MiniStack takes every schedule to be in the group default, and does not ask for iam:PassRole
		return true
	case "secretsmanager": // a template's Ref of a secret is the ARN on AWS, and the name on MiniStack, which compares the name in the policy with the ARN
		return true
	}
	return strings.HasSuffix(c.operation, "Batch") // of SQS and SNS: MiniStack asks for sqs:SendMessageBatch, an action that IAM does not have
}

// owner is the access key of the emulators' account. Emulators permit the account
// everything, and do not check its signatures.
const owner = "test"

// signAsOwner makes the request one of the account.
func signAsOwner(r *http.Request) {
	r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "Credential="+scope(r).key+"/", "Credential="+owner+"/", 1))
	r.Header.Del("X-Amz-Security-Token")
}

// invocation returns the call of a request that invokes a function, or nil. The front
// has no model of Lambda.
func invocation(r *http.Request) *call {
	name, ok := strings.CutPrefix(r.URL.Path, "/2015-03-31/functions/")
	name, invokes := strings.CutSuffix(name, "/invocations")
	if !ok || !invokes || service(r) != "lambda" || r.Method != http.MethodPost {
		return nil
	}
	return &call{service: "lambda", operation: "Invoke", model: &model{}, input: object{"FunctionName": name}}
}

// questions returns what AWS asks the policies of the caller's role about the call.
// https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
func (c *call) questions(region, account string) []iam.Call {
	on := func(service, resource string) string {
		if strings.HasPrefix(resource, "arn:") {
			return resource
		}
		return "arn:aws:" + service + ":" + region + ":" + account + ":" + resource
	}
	in := c.input
	switch c.service {
	case "dynamodb":
		return c.itemQuestions(func(table string) string { return on("dynamodb", "table/"+table) })
	case "kms":
		return []iam.Call{{Action: "kms:" + c.operation, Resource: in.text("KeyId")}}
	case "lambda":
		return []iam.Call{{Action: "lambda:InvokeFunction", Resource: on("lambda", "function:"+in.text("FunctionName"))}}
	case "scheduler":
		group := cmp.Or(in.text("GroupName"), in.text("groupName"), "default")
		calls := []iam.Call{{Action: "scheduler:" + c.operation, Resource: on("scheduler", "schedule/"+group+"/"+in.text("Name"))}}
		if role := in.object("Target").text("RoleArn"); role != "" {
			calls = append(calls, iam.Call{Action: "iam:PassRole", Resource: role, PassedTo: "scheduler.amazonaws.com"})
		}
		return calls
	case "secretsmanager":
		return []iam.Call{{Action: "secretsmanager:" + c.operation, Resource: in.text("SecretId")}}
	case "sns":
		return []iam.Call{{Action: "sns:" + strings.TrimSuffix(c.operation, "Batch"), Resource: in.text("TopicArn")}}
	case "sts":
		return []iam.Call{{Action: "sts:" + c.operation, Resource: in.text("RoleArn")}}
	case "sqs":
		return []iam.Call{{Action: "sqs:" + strings.TrimSuffix(c.operation, "Batch"), Resource: on("sqs", cmp.Or(queueName(in.text("QueueUrl")), in.text("QueueName")))}}
	}
	return nil
}

// itemQuestions returns the questions of DynamoDB: a transaction needs the permissions of
// its parts, and a query of an index needs the index alone.
func (c *call) itemQuestions(table func(string) string) []iam.Call {
	in := c.input
	if c.operation == "TransactWriteItems" || c.operation == "TransactGetItems" {
		asked := map[iam.Call]bool{}
		actions := map[string]string{"ConditionCheck": "ConditionCheckItem", "Delete": "DeleteItem", "Get": "GetItem", "Put": "PutItem", "Update": "UpdateItem"}
		for _, part := range in.list("TransactItems") {
			for kind, action := range actions {
				if part.has(kind) {
					asked[iam.Call{Action: "dynamodb:" + action, Resource: table(part.object(kind).text("TableName"))}] = true
				}
			}
		}
		return slices.Collect(maps.Keys(asked))
	}
	var calls []iam.Call
	for name := range in.object("RequestItems") {
		calls = append(calls, iam.Call{Action: "dynamodb:" + c.operation, Resource: table(name)})
	}
	if name := in.text("TableName"); name != "" {
		resource := table(name)
		if index := in.text("IndexName"); index != "" {
			resource += "/index/" + index
		}
		calls = append(calls, iam.Call{Action: "dynamodb:" + c.operation, Resource: resource})
	}
	return calls
}

// queueName is the last part of a queue's URL.
func queueName(queueURL string) string {
	u, err := url.Parse(queueURL)
	if err != nil {
		return queueURL
	}
	return u.Path[strings.LastIndexByte(u.Path, '/')+1:]
}
