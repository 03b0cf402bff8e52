output "api_url" {
  description = "The URL of the API."
  value       = aws_cloudformation_stack.surehook.outputs["ApiUrl"]
}

output "admin_key_secret_arn" {
  description = "The secret with the first API key, in the JSON field key."
  value       = aws_cloudformation_stack.surehook.outputs["AdminKeySecretArn"]
}

output "events_queue_arn" {
  description = "The queue that takes events from AWS."
  value       = aws_cloudformation_stack.surehook.outputs["EventsQueueArn"]
}
