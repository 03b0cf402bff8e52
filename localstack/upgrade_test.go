//go:build e2e && upgrade

package localstack_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"surehook.example/surehook/localstack/stack"
)

// upgradeLimit bounds the whole test.
const upgradeLimit = 15 * time.Minute

var errUpgradeTooLong = errors.New("the test of upgrades exceeded its time limit")

// TestUpgrade rolls the stack back to a version without the queue coalesce, and upgrades it
// again. The only task of a delivery is in the queue: the rollback keeps the queue, the
// second upgrade succeeds beside it, and the procedure of docs/deploying.md brings the
// task to the new queue.
func TestUpgrade(t *testing.T) { //nolint:paralleltest // the test changes the stack
	if world.emulator.Attached {
		t.Skip("the test changes the stack, whose files a server that ran before does not have")
	}
	b := setup(t)
	ctx, cancel := context.WithTimeoutCause(b.Context(), upgradeLimit, errUpgradeTooLong)
	defer cancel()
	b.ctx = ctx
	b.redeploy("keep queues, as prod does", keepQueues)

	queue := world.stack.CoalesceQueueURL
	window := windowOf(time.Now().UTC(), 2*time.Minute)
	b.endpoint("together", map[string]any{"coalesce": map[string]any{"window": window.String()}})
	posted := b.post("order.created", `{"n":1}`)
	if n := b.held(queue); n != 1 {
		t.Fatalf("the queue holds %d tasks; want the one of the event, delayed for the window of %s", n, window)
	}

	b.redeploy("roll back", func(template stack.Template) error {
		return errors.Join(keepQueues(template), removeQueue(template, "CoalesceQueueUrl"))
	})
	kept := b.keptQueues()
	if len(kept) != 1 || path.Base(kept[0]) != path.Base(queue) {
		t.Fatalf("after the rollback the queues %v are in no stack; want %s", kept, queue)
	}
	if n := b.held(queue); n != 1 {
		t.Fatalf("after the rollback the kept queue holds %d tasks; want 1", n)
	}

	b.redeploy("upgrade again", func(template stack.Template) error {
		return errors.Join(keepQueues(template), renewQueue(template, "CoalesceQueueUrl"))
	})
	if again := b.keptQueues(); !slices.Equal(again, kept) {
		t.Fatalf("after the upgrade the queues %v are in no stack; want %s: the stack has a new one", again, kept)
	}
	b.until("the task is visible in the kept queue", func() bool { return b.visible(queue) == 1 })
	if got := world.receiver.Requests(b.path("together")); len(got) != 0 {
		t.Fatalf("the endpoint got %d requests, and nobody reads the kept queue; want none", len(got))
	}
	b.move(strings.Fields(string(b.documented("make redrive", kept[0]))), kept[0])
	b.arrivals("together", 1)
	b.await(b.one(posted), "delivered")
	b.until("the kept queue is empty", func() bool { return b.held(queue) == 0 })
	b.documented("aws sqs delete-queue", kept[0])
	if kept = b.keptQueues(); len(kept) != 0 {
		t.Errorf("the queues %v are in no stack; want none after the removal", kept)
	}
}

// windowOf returns a window that ends at least the duration after now. Windows begin at
// the zero time.
func windowOf(now time.Time, least time.Duration) time.Duration {
	for window := least; ; window += time.Second {
		if now.Truncate(window).Add(window).Sub(now) >= least {
			return window
		}
	}
}

func (b *bench) redeploy(title string, edit func(stack.Template) error) {
	b.Helper()
	options := stack.Options{Root: "..", Env: os.Environ(), Progress: os.Stderr}
	if err := stack.Redeploy(b.ctx, world.emulator, options, title, edit); err != nil {
		b.Fatal(err)
	}
}

// held returns the number of tasks in the queue: visible, delayed and in flight.
func (b *bench) held(url string) int {
	b.Helper()
	n, err := depth(b.ctx, sqs.NewFromConfig(world.stack.AWS), url)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// visible returns the number of visible tasks in the queue.
func (b *bench) visible(url string) int {
	b.Helper()
	n, err := count(b.ctx, sqs.NewFromConfig(world.stack.AWS), url, types.QueueAttributeNameApproximateNumberOfMessages)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// keptQueues compares the answers of the two documented commands.
func (b *bench) keptQueues() []string {
	b.Helper()
	var all struct {
		URLs []string `json:"QueueUrls"`
	}
	var own []string
	if err := json.Unmarshal(b.documented("aws sqs list-queues", ""), &all); err != nil {
		b.Fatal(err)
	}
	if err := json.Unmarshal(b.documented("aws cloudformation describe-stack-resources", ""), &own); err != nil {
		b.Fatal(err)
	}
	return slices.DeleteFunc(all.URLs, func(url string) bool {
		return slices.ContainsFunc(own, func(id string) bool { return path.Base(id) == path.Base(url) })
	})
}

// toEmulator sends the commands to the emulator: version 1 of the AWS CLI ignores
// AWS_ENDPOINT_URL for SQS. MiniStack has no StartMessageMoveTask: its arguments are the
// output, for move.
const toEmulator = `aws() {
	if [ "$1 $2" = "sqs start-message-move-task" ]; then echo "${@:3}"; else command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"; fi
}
export -f aws
`

// move does what SQS does after StartMessageMoveTask with the arguments, for one message: it
// moves messages only out of a dead-letter queue.
func (b *bench) move(task []string, from string) {
	b.Helper()
	client := sqs.NewFromConfig(world.stack.AWS)
	to := b.output("CoalesceQueueUrl")
	if want := []string{"--source-arn", b.queueARN(from), "--destination-arn", b.queueARN(to)}; !slices.Equal(task, want) {
		b.Fatalf("make redrive starts a move %v; want %v", task, want)
	}
	policy, err := client.GetQueueAttributes(b.ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: new(strings.TrimSuffix(from, path.Base(from)) + stack.Name + "-move"), AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameRedrivePolicy},
	})
	if err != nil {
		b.Fatal(err)
	}
	if redrive := policy.Attributes[string(types.QueueAttributeNameRedrivePolicy)]; !strings.Contains(redrive, `"`+task[1]+`"`) {
		b.Fatalf("the queue %s-move has the redrive policy %s; want the kept queue as the dead-letter queue", stack.Name, redrive)
	}
	got, err := client.ReceiveMessage(b.ctx, &sqs.ReceiveMessageInput{QueueUrl: &from})
	if err != nil || len(got.Messages) != 1 {
		b.Fatalf("receive from the kept queue: %v, %v; want one message", got, err)
	}
	kept := deadLetters{client: client, url: from}
	if err := kept.move(b.ctx, got.Messages[0], to); err != nil {
		b.Fatal(err)
	}
}

// output returns an output of the stack now.
func (b *bench) output(key string) string {
	b.Helper()
	out, err := cloudformation.NewFromConfig(world.stack.AWS).DescribeStacks(b.ctx, &cloudformation.DescribeStacksInput{StackName: new(stack.Name)})
	if err != nil {
		b.Fatal(err)
	}
	for _, one := range out.Stacks[0].Outputs {
		if *one.OutputKey == key {
			return *one.OutputValue
		}
	}
	b.Fatalf("the stack has no output %s", key)
	return ""
}

// documented runs the one command of docs/deploying.md that begins so, for this stack and
// the kept queue.
func (b *bench) documented(begin, kept string) []byte {
	b.Helper()
	text, err := os.ReadFile("../docs/deploying.md")
	if err != nil {
		b.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(begin)+` .*$`).FindAllString(string(text), -1)
	if len(lines) == 0 {
		b.Fatalf("docs/deploying.md has no command %q", begin)
	}
	command := strings.NewReplacer("surehook-prod", stack.Name, "ENV=prod", "ENV=local").Replace(strings.Join(lines, "\n"))
	command = regexp.MustCompile(`https://sqs\S+Coalesce\S+`).ReplaceAllLiteralString(command, kept)
	command = regexp.MustCompile(`https://sqs\S+/`).ReplaceAllLiteralString(command, strings.TrimSuffix(kept, path.Base(kept)))
	cmd := exec.CommandContext(b.ctx, "bash", "-euo", "pipefail", "-c", toEmulator+command)
	cmd.Dir, cmd.Env = "..", world.emulator.ClientEnv()
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%s: %v\n%s", command, err, out)
	}
	return out
}

// keepQueues gives the queues the policies of prod: the queues of this stack go with it.
func keepQueues(template stack.Template) error {
	for _, r := range resources(template) {
		if r["Type"] == "AWS::SQS::Queue" {
			r["DeletionPolicy"], r["UpdateReplacePolicy"] = "Retain", "Retain"
		}
	}
	return nil
}

// renewQueue gives the queue another logical id. CloudFormation gives a new queue a new
// name; MiniStack derives the name from the id, and would take the kept queue for the new
// one.
func renewQueue(template stack.Template, output string) error {
	outputs, _ := template["Outputs"].(map[string]any)
	queue := referred(outputs[output])
	text, err := json.Marshal(template)
	if err != nil || queue == "" {
		return fmt.Errorf("renew the queue %q: %w", queue, err)
	}
	clear(template)
	return json.Unmarshal([]byte(strings.ReplaceAll(string(text), `"`+queue+`"`, `"`+queue+`New"`)), &template)
}

// removeQueue makes the template of a version before the queue, whose URL is an output. The
// functions of today need the name of a queue: they get the queue live.
func removeQueue(template stack.Template, output string) error {
	outputs, _ := template["Outputs"].(map[string]any)
	queue, live := referred(outputs[output]), referred(outputs["LiveQueueUrl"])
	if queue == "" || live == "" {
		return fmt.Errorf("the template has no queue with the output %s", output)
	}
	delete(outputs, output)
	all := resources(template)
	var gone []string
	for id, r := range all {
		properties, _ := r["Properties"].(map[string]any)
		ofQueue := r["Type"] == "AWS::SQS::QueuePolicy" && referred(properties["Queues"]) == queue ||
			r["Type"] == "AWS::Lambda::EventSourceMapping" && referred(properties["EventSourceArn"]) == queue
		if id == queue || ofQueue {
			gone = append(gone, id)
		}
	}
	if len(gone) != 3 {
		return fmt.Errorf("the queue %s has the resources %v; want the queue, its policy and its event source mapping", queue, gone)
	}
	named, _ := template["Resources"].(map[string]any)
	for _, id := range gone {
		delete(named, id)
	}
	for id := range named {
		named[id] = without(named[id], gone, live)
	}
	for id := range outputs {
		outputs[id] = without(outputs[id], gone, live)
	}
	return nil
}

func resources(template stack.Template) map[string]map[string]any {
	all := make(map[string]map[string]any)
	named, _ := template["Resources"].(map[string]any)
	for id, r := range named {
		all[id], _ = r.(map[string]any)
	}
	return all
}

// referred returns the first resource that the value refers to.
func referred(value any) string {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			if id := referred(one); id != "" {
				return id
			}
		}
	case map[string]any:
		if id, ok := v["Ref"].(string); ok {
			return id
		}
		if of, ok := v["Fn::GetAtt"].([]any); ok {
			id, _ := of[0].(string)
			return id
		}
		return referred(v["Value"])
	}
	return ""
}

// without returns the value with references to another resource in place of those that are
// gone.
func without(value any, gone []string, instead string) any {
	isGone := func(id any) bool {
		name, _ := id.(string)
		return slices.Contains(gone, name)
	}
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = without(v[i], gone, instead)
		}
	case map[string]any:
		if isGone(v["Ref"]) {
			v["Ref"] = instead
		}
		if of, ok := v["Fn::GetAtt"].([]any); ok && isGone(of[0]) {
			of[0] = instead
		}
		if all, ok := v["DependsOn"].([]any); ok {
			v["DependsOn"] = slices.DeleteFunc(all, isGone)
		}
		for name := range v {
			v[name] = without(v[name], gone, instead)
		}
	}
	return value
}
