variable "name" {
  description = "The name of the stack, and the prefix of Surehook's names."
  type        = string
  default     = "surehook-prod"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,38}[a-z0-9]$", var.name))
    error_message = "The name must be 2 to 40 lowercase letters, digits and hyphens, with a letter first and no hyphen last."
  }
}

variable "template_url" {
  description = "The https URL of the template in S3: CloudFormation reads larger templates from nowhere else."
  type        = string
}

variable "assets_bucket" {
  description = "The bucket with the functions' archives, in the region of the stack."
  type        = string
}

variable "assets_prefix" {
  description = "The folder of the archives in the bucket. Each version has another one."
  type        = string
}

variable "alarm_email" {
  description = "An address for the alarms, or an empty string. AWS sends a link to confirm first."
  type        = string
  default     = ""
}

variable "parameters" {
  description = "Other parameters of the template, by name."
  type        = map(string)
  default     = {}
}
