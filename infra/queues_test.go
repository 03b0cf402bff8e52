package main

import (
	"strings"
	"testing"
)

func TestQueues_work(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			for id, worker := range workers() {
				timeout, _ := tpl.get(t, "AWS::Lambda::Function", worker).at("Timeout").(float64)
				queue := tpl.get(t, "AWS::SQS::Queue", id)
				queue.check(t, "QueueName", "surehook-"+env.Name+"-"+strings.ToLower(id))
				queue.check(t, "RedrivePolicy.maxReceiveCount", 50)
				if got := show(queue.at("RedrivePolicy", "deadLetterTargetArn")); got != "${Undeliverable.Arn}" {
					t.Errorf("%s redrives to %s; want undeliverable", id, got)
				}
				if got, _ := queue.at("VisibilityTimeout").(float64); timeout == 0 || got < 6*timeout {
					t.Errorf("%s hides messages for %v s; want six times the timeout of %v s or more", id, got, timeout)
				}
			}
			for _, id := range []string{"DeadLetters", "Undeliverable"} {
				tpl.get(t, "AWS::SQS::Queue", id).check(t, "RedrivePolicy", nil)
			}
		})
	}
}

// workers says which function works on which queue.
func workers() map[string]string {
	return map[string]string{"Live": "Deliver", "Retry": "Deliver", "Replay": "Deliver", "Circuits": "Breaker"}
}

func TestQueues_all(t *testing.T) {
	t.Parallel()

	for env, tpl := range every(t) {
		t.Run(env.Name, func(t *testing.T) {
			t.Parallel()

			queues := tpl.all("AWS::SQS::Queue")
			if len(queues) != 6 {
				t.Errorf("%d queues; want 6", len(queues))
			}
			tls := map[string]bool{}
			for _, policy := range tpl.all("AWS::SQS::QueuePolicy") {
				text := show(policy.at("PolicyDocument"))
				queue, _ := policy.at("Queues").([]any)
				tls[show(queue[0])] = strings.Contains(text, `"Effect":"Deny"`) && strings.Contains(text, `{"aws:SecureTransport":"false"}`)
			}
			for id, queue := range queues {
				queue.check(t, "SqsManagedSseEnabled", true)
				queue.check(t, "MessageRetentionPeriod", 14*24*60*60)
				queue.check(t, "FifoQueue", nil)
				if !tls["${"+id+"}"] {
					t.Errorf("%s may be used without TLS", id)
				}
			}
		})
	}
}

func TestQueues_eventSources(t *testing.T) {
	t.Parallel()

	concurrency := map[string]map[string]int{
		"dev":     {"Live": 5, "Retry": 2, "Replay": 2, "Circuits": 5},
		"staging": {"Live": 20, "Retry": 10, "Replay": 5, "Circuits": 10},
		"prod":    {"Live": 200, "Retry": 100, "Replay": 50, "Circuits": 20},
		"local":   {"Live": 4, "Retry": 2, "Replay": 2, "Circuits": 2},
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
				source.check(t, "BatchSize", 10)
				source.check(t, "MaximumBatchingWindowInSeconds", nil)
				source.check(t, "FunctionResponseTypes", []any{"ReportBatchItemFailures"})
				source.check(t, "ScalingConfig.MaximumConcurrency", concurrency[env.Name][queue])
			}
			if len(sources) != len(workers()) {
				t.Errorf("%d event sources; want one per queue", len(sources))
			}
		})
	}
}
