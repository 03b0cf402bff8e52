//go:build e2e && upgrade

package localstack_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

// Somebody deletes the queue live. Posts get 503, a line with the queue's name feeds the alarm
// queue-refused, and the runbook brings the queue back. Then events that were refused are accepted
// once, and the task that was in the queue is replaced.
func TestDeletedQueue(t *testing.T) { //nolint:paralleltest // the test changes the stack
	if world.emulator.Attached {
		t.Skip("the test changes the stack")
	}
	b := setup(t)
	endpoint := b.endpoint("a", nil, receiver.Status(200))
	inQueue := b.lost(endpoint.ID) // its task goes with the queue
	queue := world.stack.LiveQueueURL
	if _, err := sqs.NewFromConfig(world.stack.AWS).DeleteQueue(b.ctx, &sqs.DeleteQueueInput{QueueUrl: &queue}); err != nil {
		t.Fatal(err)
	}

	event := map[string]any{"event_type": "order.created", "payload": 1, "idempotency_key": "order-1"}
	post := func() stack.Response {
		t.Helper()
		resp, err := world.api.Do(b.ctx, http.MethodPost, "/v1/tenants/"+b.tenant+"/events", []byte(`{"event_type": "order.created", "payload": 1, "idempotency_key": "order-1"}`))
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	for range 2 {
		wantProblem(t, post(), http.StatusServiceUnavailable, "unavailable", "")
	}
	log := filepath.Join(t.TempDir(), "functions.log")
	b.until("a line names the queue for the alarm", func() bool {
		if err := world.stack.SaveFunctionLogs(b.ctx, log); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, `"request.refused"`) && strings.Contains(line, queue) &&
				strings.Contains(line, `"`+names.MetricRefused+`":1`) && strings.Contains(line, `"`+names.MetricResource+`":"`+names.ResourceQueue+`"`) {
				return true
			}
		}
		return false
	})

	b.renew()
	b.runbook("What follows when a queue was deleted or purged?")
	b.renew()
	b.call(http.MethodPost, "/events", event, http.StatusAccepted, nil)
	b.sweepUntilDelivered(hook.QueuedDelivery(inQueue, inQueue.Targets[0]))
	b.arrivals("a", 2)
	b.post("fence", `{}`)
	events := map[string]bool{}
	for _, r := range b.arrivals("a", 3) {
		events[r.Header.Get("Webhook-Id")] = true
	}
	if len(events) != 3 {
		t.Errorf("the endpoint got the events %v; want each of three once", events)
	}
}

// runbook runs the blocks for AWS of the section, after those of the runbook's beginning.
func (b *bench) runbook(section string) {
	b.Helper()
	text, err := os.ReadFile("../docs/runbook.md")
	if err != nil {
		b.Fatal(err)
	}
	script := toEmulator
	for _, title := range []string{"Before you begin", section} {
		_, after, found := strings.Cut(string(text), "\n## "+title+"\n")
		if !found {
			b.Fatalf("docs/runbook.md has no section %q", title)
		}
		part, _, _ := strings.Cut(after, "\n## ")
		for _, block := range regexp.MustCompile("(?s)\n```sh aws\n(.*?)```\n").FindAllStringSubmatch(part, -1) {
			script += block[1]
		}
	}
	cmd := exec.CommandContext(b.ctx, "bash", "-euo", "pipefail", "-c", strings.ReplaceAll(script, "surehook-prod", stack.Name))
	cmd.Dir, cmd.Env = b.TempDir(), world.emulator.ClientEnv()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("the commands of the runbook: %v\n%s", err, out)
	}
}
