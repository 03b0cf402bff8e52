package surehook

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQueues_work(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			for id, worker := range workers() {
				aside := "${Undeliverable.Arn}"
				if id == "Retry" {
					aside = "${UndeliverableRetry.Arn}"
				}
				if id == "Events" {
					aside = "${Rejects.Arn}"
				}
				timeout, _ := tpl.get(t, "AWS::Lambda::Function", worker).at("Timeout").(float64)
				queue := tpl.get(t, "AWS::SQS::Queue", id)
				queue.check(t, "RedrivePolicy.maxReceiveCount", 1000)
				if got := show(queue.at("RedrivePolicy", "deadLetterTargetArn")); got != aside {
					t.Errorf("%s redrives to %s; want %s", id, got, aside)
				}
				if got, _ := queue.at("VisibilityTimeout").(float64); timeout == 0 || got < 6*timeout {
					t.Errorf("%s hides messages for %v s; want six times the timeout of %v s or more", id, got, timeout)
				}
			}
			for _, id := range []string{"Rejects", "DeadLetters", "Undeliverable", "UndeliverableRetry"} {
				tpl.get(t, "AWS::SQS::Queue", id).check(t, "RedrivePolicy", nil)
			}
		})
	}
}

// TestQueues_redrive checks that SQS may move messages out of the dead letters.
// A move needs another queue with the dead letters as its dead-letter queue.
func TestQueues_redrive(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			redrive := tpl.get(t, "AWS::SQS::Queue", "Redrive")
			redrive.check(t, "RedrivePolicy.maxReceiveCount", 1000)
			if got := show(redrive.at("RedrivePolicy", "deadLetterTargetArn")); got != "${DeadLetters.Arn}" {
				t.Errorf("the idle queue redrives to %s; want the dead letters", got)
			}
		})
	}
}

// TestQueues_scheduler checks that the tasks that the Scheduler could not send are in the
// dead-letter queue of their target. SQS moves messages only out of a dead-letter queue of
// a queue, and messages of the Scheduler only to a named queue: here all go to the retry
// queue.
func TestQueues_scheduler(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		deliver := variables(tpl.get(t, "AWS::Lambda::Function", "Deliver"))
		var aside []string
		for id, queue := range tpl.all("AWS::SQS::Queue") {
			if show(queue.at("RedrivePolicy", "deadLetterTargetArn")) == deliver["SUREHOOK_UNDELIVERABLE_RETRY_ARN"] {
				aside = append(aside, "${"+id+".Arn}")
			}
		}
		if want := []string{deliver["SUREHOOK_RETRY_QUEUE_ARN"]}; !slices.Equal(aside, want) {
			t.Errorf("%s: the queue of failed schedules is the dead-letter queue of %v; want of %v, the target", env.Name, aside, want)
		}
	}
}

// workers maps each queue to its function.
func workers() map[string]string {
	return map[string]string{
		"Live": "Deliver", "Retry": "Deliver", "Replay": "Deliver", "Slot": "Deliver", "Overflow": "Deliver", "Coalesce": "Deliver",
		"Events": "Ingest", "Circuits": "Breaker", "ReplayJobs": "Replayer",
	}
}

func TestQueues_all(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			queues := tpl.all("AWS::SQS::Queue")
			if len(queues) != 14 {
				t.Errorf("%d queues; want 14", len(queues))
			}
			policies := map[string][]map[string]any{}
			for _, policy := range tpl.all("AWS::SQS::QueuePolicy") {
				for _, queue := range list(policy.at("Queues")) {
					policies[show(queue)] = append(policies[show(queue)], statements(policy.Properties)...)
				}
			}
			for id, queue := range queues {
				queue.check(t, "SqsManagedSseEnabled", true)
				queue.check(t, "MessageRetentionPeriod", 14*24*60*60)
				queue.check(t, "FifoQueue", nil)
				// A kept queue with a name of ours would block the next deployment.
				queue.check(t, "QueueName", nil)
				deletion, replacement := "RetainExceptOnCreate", "Retain"
				if env.Name == "dev" || env.Name == "local" {
					deletion, replacement = "Delete", "Delete"
				}
				if queue.DeletionPolicy != deletion || queue.UpdateReplacePolicy != replacement {
					t.Errorf("%s: %s at a deletion and %s at a replacement; want %s and %s", id, queue.DeletionPolicy, queue.UpdateReplacePolicy, deletion, replacement)
				}
				// The policy denies requests without TLS and allows nothing.
				all := policies["${"+id+"}"]
				if len(all) != 1 || show(all[0]["Resource"]) != "${"+id+".Arn}" {
					t.Fatalf("policy of %s = %v; want one statement about it", id, all)
				}
				got := maps.Clone(all[0])
				delete(got, "Resource")
				want := map[string]any{
					"Effect":    "Deny",
					"Principal": map[string]any{"AWS": "*"},
					"Action":    "sqs:*",
					"Condition": map[string]any{"Bool": map[string]any{"aws:SecureTransport": "false"}},
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("policy of %s (-want +got):\n%s", id, diff)
				}
			}
		})
	}
}

func TestQueues_eventSources(t *testing.T) {
	t.Parallel()

	concurrency := map[string]map[string]int{
		"dev":     {"Events": 2, "Live": 5, "Retry": 2, "Replay": 2, "Slot": 2, "Overflow": 18, "Coalesce": 2, "Circuits": 5, "ReplayJobs": 2},
		"staging": {"Events": 5, "Live": 20, "Retry": 10, "Replay": 5, "Slot": 5, "Overflow": 45, "Coalesce": 5, "Circuits": 10, "ReplayJobs": 5},
		"prod":    {"Events": 20, "Live": 200, "Retry": 100, "Replay": 50, "Slot": 20, "Overflow": 180, "Coalesce": 20, "Circuits": 20, "ReplayJobs": 10},
		"local":   {"Events": 2, "Live": 4, "Retry": 2, "Replay": 2, "Slot": 2, "Overflow": 8, "Coalesce": 2, "Circuits": 2, "ReplayJobs": 2},
	}
	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			sources := map[string]resource{}
			for _, source := range tpl.all("AWS::Lambda::EventSourceMapping") {
				sources[show(source.at("EventSourceArn"))] = source
			}
			for queue, worker := range workers() {
				source, ok := sources["${"+queue+".Arn}"]
				if !ok {
					t.Errorf("nothing works on the queue %s", queue)
					continue
				}
				if got := show(source.at("FunctionName")); got != "${"+worker+"}" {
					t.Errorf("%s works on the queue %s; want %s", got, queue, worker)
				}
				batch := 10
				if slices.Contains([]string{"ReplayJobs", "Slot", "Overflow"}, queue) {
					batch = 1
				}
				var window any
				if queue == "Coalesce" {
					batch, window = 100, 2
				}
				source.check(t, "BatchSize", batch)
				source.check(t, "MaximumBatchingWindowInSeconds", window)
				source.check(t, "FunctionResponseTypes", []any{"ReportBatchItemFailures"})
				source.check(t, "ScalingConfig.MaximumConcurrency", concurrency[env.Name][queue])
			}
			if len(sources) != len(workers())+1 {
				t.Errorf("%d event sources; want one per queue, and the stream", len(sources))
			}
		})
	}
}
