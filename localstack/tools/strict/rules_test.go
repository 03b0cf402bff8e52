package strict_test

import (
	"fmt"
	"testing"
)

const queue = "http://127.0.0.1:4566/000000000000/live"

func TestFront_model(t *testing.T) {
	t.Parallel()

	get := in{"TableName": "none", "Key": in{"pk": in{"S": "a"}}}
	hold(t, "dynamodb", []rule{
		{name: "an operation that the service has not", operation: "GetItems", input: in{}, want: "UnknownOperationException"},
		{name: "a required member is missing", operation: "GetItem", input: with(get, "Key", nil), want: "ValidationException"},
		{name: "all required members", operation: "GetItem", input: get},
		{name: "a member that the model has not", operation: "GetItem", input: with(get, "Keys", "x"), want: "ValidationException"},
		{name: "a member that a nested structure has not", operation: "GetItem", input: with(get, "Key", in{"pk": in{"T": "a"}}), want: "ValidationException"},
		{name: "text of the greatest length", operation: "GetItem", input: with(get, "TableName", text(1024))},
		{name: "text that is too long", operation: "GetItem", input: with(get, "TableName", text(1025)), want: "ValidationException"},
		{name: "text that is too short", operation: "GetItem", input: with(get, "TableName", ""), want: "ValidationException"},
		{name: "text of another type", operation: "GetItem", input: with(get, "TableName", 5), want: "ValidationException"},
		{name: "a number that is too small", operation: "Query", input: in{"TableName": "none", "Limit": 0}, want: "ValidationException"},
		{name: "the smallest number", operation: "Query", input: in{"TableName": "none", "Limit": 1}},
		{name: "a number that is not whole", operation: "Query", input: in{"TableName": "none", "Limit": 1.5}, want: "ValidationException"},
		{name: "text outside the pattern", operation: "Query", input: in{"TableName": "none", "IndexName": "by state"}, want: "ValidationException"},
		{name: "text of the pattern", operation: "Query", input: in{"TableName": "none", "IndexName": "by_state"}},
		{name: "a list that is too long", operation: "TransactGetItems", input: in{"TransactItems": gets(101)}, want: "ValidationException"},
		{name: "the longest list", operation: "TransactGetItems", input: in{"TransactItems": gets(100)}},
		{name: "a list that is too short", operation: "TransactGetItems", input: in{"TransactItems": gets(0)}, want: "ValidationException"},
	})
}

func gets(n int) []in {
	return repeat(n, func(i int) in {
		return in{"Get": in{"TableName": "t", "Key": in{"pk": in{"S": fmt.Sprint(i)}, "sk": in{"S": "a"}}}}
	})
}

func TestFront_sqs(t *testing.T) {
	t.Parallel()

	message := in{"QueueUrl": queue, "MessageBody": "x", "MessageGroupId": "ep_1"}
	entries := func(n int, body string) in {
		return in{"QueueUrl": queue, "Entries": repeat(n, func(i int) in { return in{"Id": fmt.Sprint(i), "MessageBody": body} })}
	}
	one := func(name string, value any) in {
		return in{"QueueUrl": queue, "Entries": []in{with(in{"Id": "a", "MessageBody": "x"}, name, value)}}
	}
	attributes := func(n int) in {
		all := in{}
		for i := range n {
			all[fmt.Sprint(i)] = in{"DataType": "String", "StringValue": "x"}
		}
		return all
	}
	const value, batch = "InvalidParameterValue", "AWS.SimpleQueueService."
	hold(t, "sqs", []rule{
		{name: "the longest delay", operation: "SendMessage", input: with(message, "DelaySeconds", 900)},
		{name: "a longer delay", operation: "SendMessage", input: with(message, "DelaySeconds", 901), want: value},
		{name: "a negative delay", operation: "SendMessage", input: with(message, "DelaySeconds", -1), want: value},
		{name: "the longest message", operation: "SendMessage", input: with(message, "MessageBody", text(1<<20))},
		{name: "a longer message", operation: "SendMessage", input: with(message, "MessageBody", text(1<<20+1)), want: value},
		{name: "an empty message", operation: "SendMessage", input: with(message, "MessageBody", ""), want: "MissingParameter"},
		{name: "a control character", operation: "SendMessage", input: with(message, "MessageBody", "\x01"), want: "InvalidMessageContents"},
		{name: "a line break", operation: "SendMessage", input: with(message, "MessageBody", "a\r\n\tb")},
		{name: "the longest group", operation: "SendMessage", input: with(message, "MessageGroupId", text(128))},
		{name: "a longer group", operation: "SendMessage", input: with(message, "MessageGroupId", text(129)), want: value},
		{name: "a longer deduplication id", operation: "SendMessage", input: with(message, "MessageDeduplicationId", text(129)), want: value},
		{name: "a group with a space", operation: "SendMessage", input: with(message, "MessageGroupId", "a b"), want: value},
		{name: "ten attributes", operation: "SendMessage", input: with(message, "MessageAttributes", attributes(10))},
		{name: "eleven attributes", operation: "SendMessage", input: with(message, "MessageAttributes", attributes(11)), want: value},
		{name: "a queue that is no address", operation: "SendMessage", input: with(message, "QueueUrl", "live"), want: "InvalidAddress"},
		{name: "ten entries", operation: "SendMessageBatch", input: entries(10, "x")},
		{name: "eleven entries", operation: "SendMessageBatch", input: entries(11, "x"), want: batch + "TooManyEntriesInBatchRequest"},
		{name: "no entries", operation: "SendMessageBatch", input: in{"QueueUrl": queue, "Entries": []in{}}, want: batch + "EmptyBatchRequest"},
		{name: "the largest batch", operation: "SendMessageBatch", input: entries(8, text(1<<17))},
		{name: "a larger batch", operation: "SendMessageBatch", input: entries(8, text(1<<17+1)), want: batch + "BatchRequestTooLong"},
		{name: "two entries of one id", operation: "SendMessageBatch", input: in{"QueueUrl": queue, "Entries": []in{{"Id": "a", "MessageBody": "x"}, {"Id": "a", "MessageBody": "y"}}}, want: batch + "BatchEntryIdsNotDistinct"},
		{name: "the longest id", operation: "SendMessageBatch", input: one("Id", text(80))},
		{name: "a longer id", operation: "SendMessageBatch", input: one("Id", text(81)), want: batch + "InvalidBatchEntryId"},
		{name: "the longest delay in a batch", operation: "SendMessageBatch", input: one("DelaySeconds", 900)},
		{name: "a longer delay in a batch", operation: "SendMessageBatch", input: one("DelaySeconds", 901), want: value},
		{name: "ten receipts", operation: "DeleteMessageBatch", input: entries(10, "x")},
		{name: "eleven receipts", operation: "DeleteMessageBatch", input: entries(11, "x"), want: batch + "TooManyEntriesInBatchRequest"},
		{name: "the longest visibility timeout in a batch", operation: "ChangeMessageVisibilityBatch", input: one("VisibilityTimeout", 43_200)},
		{name: "a longer visibility timeout in a batch", operation: "ChangeMessageVisibilityBatch", input: one("VisibilityTimeout", 43_201), want: value},
		{name: "the longest visibility timeout", operation: "ChangeMessageVisibility", input: in{"QueueUrl": queue, "ReceiptHandle": "r", "VisibilityTimeout": 43_200}},
		{name: "a longer visibility timeout", operation: "ChangeMessageVisibility", input: in{"QueueUrl": queue, "ReceiptHandle": "r", "VisibilityTimeout": 43_201}, want: value},
		{name: "ten messages, 20 seconds", operation: "ReceiveMessage", input: in{"QueueUrl": queue, "MaxNumberOfMessages": 10, "WaitTimeSeconds": 20}},
		{name: "eleven messages", operation: "ReceiveMessage", input: in{"QueueUrl": queue, "MaxNumberOfMessages": 11}, want: value},
		{name: "no messages", operation: "ReceiveMessage", input: in{"QueueUrl": queue, "MaxNumberOfMessages": 0}, want: value},
		{name: "21 seconds", operation: "ReceiveMessage", input: in{"QueueUrl": queue, "WaitTimeSeconds": 21}, want: value},
		{name: "the longest name of a queue", operation: "CreateQueue", input: in{"QueueName": text(80)}},
		{name: "a longer name of a queue", operation: "CreateQueue", input: in{"QueueName": text(81)}, want: value},
		{name: "the longest retention", operation: "SetQueueAttributes", input: in{"QueueUrl": queue, "Attributes": in{"MessageRetentionPeriod": "1209600"}}},
		{name: "a longer retention", operation: "SetQueueAttributes", input: in{"QueueUrl": queue, "Attributes": in{"MessageRetentionPeriod": "1209601"}}, want: "InvalidAttributeValue"},
	})
}

func TestFront_scheduler(t *testing.T) {
	t.Parallel()

	create := in{
		"GroupName": "retries", "ScheduleExpression": "at(2026-11-22T12:00:01)", "ScheduleExpressionTimezone": "UTC", "ActionAfterCompletion": "DELETE",
		"FlexibleTimeWindow": in{"Mode": "OFF"}, "Target": in{"Arn": "arn:aws:sqs:us-east-1:000000000000:retry", "RoleArn": "arn:aws:iam::000000000000:role/r"},
	}
	post := func(name string) string { return "POST /schedules/" + name }
	const invalid = "ValidationException"
	hold(t, "scheduler", []rule{
		{name: "the longest name", operation: post(text(64)), input: create},
		{name: "a name of 65 characters", operation: post(text(65)), input: create, want: invalid},
		{name: "a name with a percent sign", operation: post("a%25b"), input: create, want: invalid},
		{name: "a path that the service has not", operation: "POST /schedule/a", input: create, want: "UnknownOperationException"},
		{name: "a parameter that the service has not", operation: "DELETE /schedules/a?GroupName=retries", want: invalid},
		{name: "a parameter in the query", operation: "DELETE /schedules/a?groupName=retries"},
		{name: "the greatest number in the query", operation: "GET /schedules?MaxResults=100"},
		{name: "a greater number in the query", operation: "GET /schedules?MaxResults=101", want: invalid},
		{name: "a time in the past", operation: post("a"), input: with(create, "ScheduleExpression", "at(2026-11-22T11:58:59)"), want: invalid},
		{name: "a time that has just passed", operation: post("a"), input: with(create, "ScheduleExpression", "at(2026-11-22T11:59:00)")},
		{name: "a time with a zone", operation: post("a"), input: with(create, "ScheduleExpression", "at(2026-11-22T12:00:01Z)"), want: invalid},
		{name: "a time of another time zone", operation: post("a"), input: with(create, "ScheduleExpressionTimezone", "Asia/Tokyo"), want: invalid},
		{name: "a time zone that does not exist", operation: post("a"), input: with(create, "ScheduleExpressionTimezone", "Mars/One"), want: invalid},
		{name: "a rate", operation: post("a"), input: with(create, "ScheduleExpression", "rate(1 minute)")},
		{name: "no expression", operation: post("a"), input: with(create, "ScheduleExpression", "soon"), want: invalid},
		{name: "a window that is off, with a width", operation: post("a"), input: with(create, "FlexibleTimeWindow", in{"Mode": "OFF", "MaximumWindowInMinutes": 5}), want: invalid},
		{name: "a flexible window without a width", operation: post("a"), input: with(create, "FlexibleTimeWindow", in{"Mode": "FLEXIBLE"}), want: invalid},
		{name: "more retries than the service makes", operation: post("a"), input: with(create, "Target", in{"Arn": "a", "RoleArn": "r", "RetryPolicy": in{"MaximumRetryAttempts": 186}}), want: invalid},
	})
}

func TestFront_kms(t *testing.T) {
	t.Parallel()

	hold(t, "kms", []rule{
		{name: "the longest plaintext", operation: "Encrypt", input: in{"KeyId": "k", "Plaintext": blob(4096)}},
		{name: "a longer plaintext", operation: "Encrypt", input: in{"KeyId": "k", "Plaintext": blob(4097)}, want: "ValidationException"},
		{name: "a plaintext that is not in base64", operation: "Encrypt", input: in{"KeyId": "k", "Plaintext": "?"}, want: "ValidationException"},
		{name: "a data key of a kind", operation: "GenerateDataKey", input: in{"KeyId": "k", "KeySpec": "AES_256"}},
		{name: "a data key of an unknown kind", operation: "GenerateDataKey", input: in{"KeyId": "k", "KeySpec": "AES_257"}, want: "ValidationException"},
		{name: "a data key of a kind and a length", operation: "GenerateDataKey", input: in{"KeyId": "k", "KeySpec": "AES_256", "NumberOfBytes": 32}, want: "ValidationException"},
		{name: "a data key of neither", operation: "GenerateDataKey", input: in{"KeyId": "k"}, want: "ValidationException"},
	})
}

func TestFront_secretsmanager(t *testing.T) {
	t.Parallel()

	hold(t, "secretsmanager", []rule{
		{name: "the longest id", operation: "GetSecretValue", input: in{"SecretId": text(2048)}},
		{name: "a longer id", operation: "GetSecretValue", input: in{"SecretId": text(2049)}, want: "InvalidParameterException"},
	})
}

func TestFront_sns(t *testing.T) {
	t.Parallel()

	publish := in{"TopicArn": "arn", "Message": "x", "Subject": "Endpoint disabled"}
	entries := func(n int) in {
		form := in{"TopicArn": "arn"}
		for i := range n {
			member := fmt.Sprintf("PublishBatchRequestEntries.member.%d.", i+1)
			form[member+"Id"], form[member+"Message"] = fmt.Sprint(i), "x"
		}
		return form
	}
	hold(t, "sns", []rule{
		{name: "the longest message", operation: "Publish", input: with(publish, "Message", text(256<<10))},
		{name: "a longer message", operation: "Publish", input: with(publish, "Message", text(256<<10+1)), want: "InvalidParameter"},
		{name: "no message", operation: "Publish", input: with(publish, "Message", nil), want: "InvalidParameter"},
		{name: "the longest subject", operation: "Publish", input: with(publish, "Subject", text(100))},
		{name: "a longer subject", operation: "Publish", input: with(publish, "Subject", text(101)), want: "InvalidParameter"},
		{name: "a subject with a line break", operation: "Publish", input: with(publish, "Subject", "a\nb"), want: "InvalidParameter"},
		{name: "an attribute", operation: "Publish", input: with(with(with(publish, "MessageAttributes.entry.1.Name", "a"), "MessageAttributes.entry.1.Value.DataType", "String"), "MessageAttributes.entry.1.Value.StringValue", "x")},
		{name: "an attribute without a type", operation: "Publish", input: with(with(publish, "MessageAttributes.entry.1.Name", "a"), "MessageAttributes.entry.1.Value.StringValue", "x"), want: "InvalidParameter"},
		{name: "a parameter that the service has not", operation: "Publish", input: with(publish, "Topic", "arn"), want: "InvalidParameter"},
		{name: "ten entries", operation: "PublishBatch", input: entries(10)},
		{name: "eleven entries", operation: "PublishBatch", input: entries(11), want: "TooManyEntriesInBatchRequest"},
	})
}
