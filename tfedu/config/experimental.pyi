# Generated from the notebooks by `make export`; do not edit.
from tfedu.core.device import LogicalDeviceConfiguration as VirtualDeviceConfiguration
from tfedu.core.config import enable_tensor_float_32_execution as enable_tensor_float_32_execution
from tfedu.core.config import get_device_details as get_device_details
from tfedu.core.config import get_device_policy as get_device_policy
from tfedu.core.config import get_memory_growth as get_memory_growth
from tfedu.core.config import get_memory_usage as get_memory_usage
from tfedu.core.config import get_synchronous_execution as get_synchronous_execution
from tfedu.core.device import get_logical_device_configuration as get_virtual_device_configuration
from tfedu.core.device import get_visible_devices as get_visible_devices
from tfedu.core.device import list_logical_devices as list_logical_devices
from tfedu.core.device import list_physical_devices as list_physical_devices
from tfedu.core.config import set_device_policy as set_device_policy
from tfedu.core.config import set_memory_growth as set_memory_growth
from tfedu.core.config import set_synchronous_execution as set_synchronous_execution
from tfedu.core.device import set_logical_device_configuration as set_virtual_device_configuration
from tfedu.core.device import set_visible_devices as set_visible_devices
from tfedu.core.config import tensor_float_32_execution_enabled as tensor_float_32_execution_enabled
