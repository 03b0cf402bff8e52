output "api_url" {
  description = "The URL of the API."
  value       = aws_cloudformation_stack.surehook.outputs["ApiUrl"]
}

output "admin_key_secret_arn" {
  description = "The secret with the first API key, in the JSON field key."
  value       = aws_cloudformation_stack.surehook.outputs["AdminKeySecretArn"]
}

output "topic_arn" {
  description = "The topic of the alarms, for subscriptions of yours."
  value       = aws_cloudformation_stack.surehook.outputs["TopicArn"]
}

output "events_queue_url" {
  description = "The queue that takes events from AWS, for SendMessage."
  value       = aws_cloudformation_stack.surehook.outputs["EventsQueueUrl"]
}

output "events_queue_arn" {
  description = "The same queue, for policies and targets."
  value       = aws_cloudformation_stack.surehook.outputs["EventsQueueArn"]
}

output "table_name" {
  description = "The table with all data."
  value       = aws_cloudformation_stack.surehook.outputs["TableName"]
}

output "key_arn" {
  description = "The KMS key that seals the endpoints' secrets."
  value       = aws_cloudformation_stack.surehook.outputs["KeyArn"]
}

output "domain_target" {
  description = "The name that the DNS record of the domain points at; null without a domain."
  value       = lookup(aws_cloudformation_stack.surehook.outputs, "DomainTarget", null)
}

output "domain_zone_id" {
  description = "The hosted zone of that name, for an alias record; null without a domain."
  value       = lookup(aws_cloudformation_stack.surehook.outputs, "DomainZoneId", null)
}

output "outputs" {
  description = "All outputs of the stack, by name."
  value       = aws_cloudformation_stack.surehook.outputs
}
