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

variable "tags" {
  description = "Tags of the stack and of all its resources."
  type        = map(string)
  default     = {}
}

variable "iam_role_arn" {
  description = "A role with which CloudFormation works, in place of the caller's permissions; null for none."
  type        = string
  default     = null
}

variable "notification_arns" {
  description = "SNS topics that hear what CloudFormation does."
  type        = list(string)
  default     = []
}

variable "permissions_boundary" {
  description = "The ARN of a policy that bounds every role of the stack, or an empty string."
  type        = string
  default     = ""
}

variable "sealing_key" {
  description = "The ARN of a KMS key for the endpoints' secrets, or an empty string for one that the stack makes. It can never change."
  type        = string
  default     = ""
}

variable "log_days" {
  description = "The lifetime of log lines in days; null for that of the template."
  type        = number
  default     = null
}

variable "parameters" {
  description = "Other parameters of the template, by name."
  type        = map(string)
  default     = {}

  validation {
    condition = length(setsubtract(keys(var.parameters), [
      "ApiCertificate", "ApiDomain", "EndpointsPerHost", "Envelope", "OidcClaim", "OidcClientId", "OidcIssuer", "OidcOrigins", "OidcRoles", "OidcScopes",
      "PortalAccent", "PortalEmbedders", "PortalLogo", "PortalName", "PrivateCa", "PrivateCidrs", "PrivateHosts", "PrivateIpv6Cidrs", "PrivatePorts", "PrivateSubnets", "PrivateTenants",
      "PrivateVpc", "SignatureProfiles", "Signatures", "Validation",
    ])) == 0
    error_message = "A parameter is unknown, or has a variable of its own: see the template."
  }
}
